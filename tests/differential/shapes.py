"""Structs and arrays of several dimensions, for test_lower.py: their declarations, their places, and what a whole one holds.

A struct variable is a list of leaves, in the order of its fields. Each leaf is a variable with the dimensions of everything
around it, and its elements are numbered row by row.
"""


def product(dims):
    n = 1
    for d in dims:
        n *= d
    return n


class Field:
    def __init__(self, name, scalar=None, fields=None, dims=()):
        self.name, self.scalar, self.fields, self.dims = name, scalar, fields, list(dims)


class Struct:
    def __init__(self, name, fields):
        self.name, self.fields = name, fields

    def text(self):
        rows = [f"{f.fields.name if f.fields else f.scalar.type()} {f.name}{''.join(f'[{d}]' for d in f.dims)};"
                for f in self.fields]
        return f"struct {self.name} {{ {' '.join(rows)} }};"


def random_struct(rng, name, scalar, inner=None):
    """scalar(name) makes a variable whose type a field can have"""
    fields = []
    for i in range(rng.randint(1, 3)):
        dims = rng.choice([[], [], [2], [2, 2]])
        if inner and i == 0:
            fields.append(Field("in", None, inner, rng.choice([[], [2]])))
        else:
            fields.append(Field(f"f{i}", scalar("field"), None, dims))
    return Struct(name, fields)


class Whole:
    """A variable of struct type; as an argument or in a copy, with its indices."""
    def __init__(self, name, struct, dims, shared, new_var):
        self.name, self.struct, self.dims, self.shared, self.leaves = name, struct, list(dims), shared, []
        self.ref = False  # a parameter passed by reference
        self.add(struct, name, name + "[]" * len(dims), list(dims), new_var)

    def add(self, struct, full, pattern, dims, new_var):
        for f in struct.fields:
            inner = dims + f.dims
            at = f"{pattern}.{f.name}" + "[]" * len(f.dims)
            if f.fields:
                self.add(f.fields, f"{full}.{f.name}", at, inner, new_var)
                continue
            v = new_var(f"{full}.{f.name}", f.scalar.lo, f.scalar.hi, f.scalar.boolean, product(inner) if inner else 0, self.shared)
            v.dims, v.pattern, v.wrap = inner, at, f.scalar.wrap
            self.leaves.append(v)

    def declare(self):
        return f"{self.struct.name} {self.name}{''.join(f'[{d}]' for d in self.dims)}"

    def part(self, leaf):
        """how many elements of the leaf one struct has"""
        return max(leaf.length, 1) // product(self.dims)

    def pieces(self):
        """(leaf, number among those of one struct) of all scalars of a struct, as they lie in memory"""
        leaves = iter(self.leaves)
        places = {}

        def find(struct, path):  # leaves in the order of the fields
            for f in struct.fields:
                if f.fields:
                    find(f.fields, path + (f.name,))
                else:
                    places[path + (f.name,)] = next(leaves)

        def walk(struct, path, j):
            for f in struct.fields:
                n = product(f.dims)
                for i in range(n):
                    if f.fields:
                        yield from walk(f.fields, path + (f.name,), j * n + i)
                    else:
                        yield places[path + (f.name,)], j * n + i
        find(self.struct, ())
        return list(walk(self.struct, (), 0))


def fill_pattern(pattern, indices):
    for i in indices:
        pattern = pattern.replace("[]", f"[{i}]", 1)
    return pattern


def braces(struct, values):
    """{ ... } with the texts of all elements, taken from the list in order"""
    def nested(dims, one):
        return one() if not dims else "{ " + ", ".join(nested(dims[1:], one) for _ in range(dims[0])) + " }"

    def field(f):
        return nested(f.dims, lambda: braces(f.fields, values) if f.fields else values.pop(0))
    return "{ " + ", ".join(field(f) for f in struct.fields) + " }"
