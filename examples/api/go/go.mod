module intact/examples

go 1.18
