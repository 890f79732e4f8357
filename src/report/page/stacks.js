// stacks
