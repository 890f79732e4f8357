"""Small random models with threads, a lock, choices and one atomic block in each template."""


def random_model(r):
    def value():
        return r.choice(["0", "1", "2", "x", "y", "t"])

    def statement(depth=0):
        kind = r.randrange(6 if depth < 2 else 3)
        if kind == 0:
            return f"t = {value()};"
        if kind == 1:
            return f"{r.choice('xy')} = ({value()} + {r.randrange(3)}) % 3;"
        if kind == 2:
            return f"t = {r.choice('xy')};"
        if kind == 3:
            return f"if ({value()} == {value()}) {{ {statement(depth + 1)} }}"
        if kind == 4:
            return f"acquire(m); {statement(2)} {statement(2)} release(m);"
        return f"either {{ {statement(depth + 1)} }} or {{ {statement(depth + 1)} }}"

    out = "int[0..2] x, y;\nlock m;\n"
    for i in range(r.randint(1, 2)):
        body = " ".join(statement() for _ in range(r.randint(0, 2)))
        block = " ".join(statement() for _ in range(r.randint(1, 4)))
        out += f"thread w{i} * {r.randint(1, 3)} {{\n  int[0..2] t;\n  {body}\n  atomic b{i} {{ {block} }}\n}}\n"
    return out
