"""Programs of Debian that make bench-run measures: pbzip2 with libbz2, and zstd.

Their sources are those in the folder that BENCH_SOURCES names (unpacked:
bzip2-*, pbzip2-*, libzstd-*), or what `apt-get source` gives; without either
they are skipped, with a line that says so. Nothing of them is kept.
"""
import glob
import multiprocessing.pool
import os
import random
import shutil
import subprocess

PACKAGES = ("bzip2", "pbzip2", "libzstd")


def sources(tmp):
    """{package: folder} of those that can be had."""
    folder = os.environ.get("BENCH_SOURCES")
    if not folder:
        folder = os.path.join(tmp, "sources")
        os.makedirs(folder, exist_ok=True)
        if shutil.which("apt-get") and shutil.which("dpkg-source"):
            for p in PACKAGES:
                subprocess.run(["apt-get", "source", "-qq", p], cwd=folder, capture_output=True)
    found = {}
    for p in PACKAGES:
        dirs = [d for d in sorted(glob.glob(os.path.join(folder, p + "-[0-9]*"))) if os.path.isdir(d)]
        if dirs:
            found[p] = dirs[-1]
    return found


def input_file(path, size):
    """Words of a small vocabulary with numbers between them: compresses about as text does."""
    r = random.Random(7)
    words = ["".join(r.choices("etaoinshrdlucmfw", k=r.randint(2, 9))) for _ in range(4000)]
    with open(path, "w") as f:
        n = 0
        while n < size:
            line = " ".join(words[min(int(r.expovariate(0.002)), 3999)] for _ in range(12)) + " %d\n" % r.getrandbits(20)
            n += f.write(line)


def compilers(intact):
    """column: (C compiler, C++ compiler, flags, environment)"""
    return {
        "native": (["clang"], ["clang++"], [], {}),
        "intact": ([intact, "cc"], [intact, "c++"], [], {"INTACT_CC": "clang"}),
        "intact-gcc": ([intact, "cc"], [intact, "c++"], [], {"INTACT_CC": "gcc"}),
        "clang-tsan": (["clang"], ["clang++"], ["-fsanitize=thread"], {}),
        "gcc-tsan": (["gcc"], ["g++"], ["-fsanitize=thread"], {}),
    }


def make(cc, cxx, flags, env, parts, out, noop):
    """Compiles the parts (sources, their flags), two at a time, and links them; `noop`: also with this object
    in place of the runtime, as (object, executable)."""
    env = dict(os.environ, **env)
    jobs = [(f, extra, "%s.%d.%s.o" % (out, i, os.path.basename(f)))
            for i, (files, extra) in enumerate(parts) for f in files]

    def one(job):
        f, extra, o = job
        c = cc if f.endswith(".c") else cxx
        subprocess.run([*c, "-O2", "-g", "-w", "-pthread", *flags, *extra, "-c", f, "-o", o], check=True, env=env,
                       capture_output=True)
        return o

    with multiprocessing.pool.ThreadPool(2) as pool:
        objs = pool.map(one, jobs, chunksize=1)
    subprocess.run([*cxx, *flags, *objs, "-pthread", "-o", out], check=True, env=env, capture_output=True)
    if noop:
        subprocess.run(["clang++", *objs, noop[0], "-pthread", "-o", noop[1]], check=True, capture_output=True)
    for o in objs:
        os.unlink(o)


def pbzip2_parts(src):
    bz, pb = src["bzip2"], src["pbzip2"]
    lib = [os.path.join(bz, f + ".c") for f in
           ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib")]
    own = [os.path.join(pb, f + ".cpp") for f in ("pbzip2", "BZ2StreamScanner", "ErrorContext")]
    return [(lib, ["-D_FILE_OFFSET_BITS=64"]),
            (own, ["-D_FILE_OFFSET_BITS=64", "-DUSE_STACKSIZE_CUSTOMIZATION", "-I" + bz, "-std=gnu++98"])]


def zstd_parts(src):
    z = src["libzstd"]
    files = [f for d in ("common", "compress", "decompress", "dictBuilder")
             for f in sorted(glob.glob(os.path.join(z, "lib", d, "*.c")))]
    files += sorted(glob.glob(os.path.join(z, "programs", "*.c")))
    inc = ["-I" + os.path.join(z, d) for d in ("lib", "lib/common", "lib/dictBuilder", "programs")]
    return [(files, ["-DZSTD_MULTITHREAD", "-DZSTD_DISABLE_ASM=1", "-DZSTD_LEGACY_SUPPORT=0",
                     "-DXXH_NAMESPACE=ZSTD_", *inc])]


# name: (packages, parts, arguments for N threads and an input file)
PROGRAMS = {
    "pbzip2": (("bzip2", "pbzip2"), pbzip2_parts, lambda n, f: ["-k", "-f", "-c", "-b2", "-p%d" % n, f]),
    "zstd -T": (("libzstd",), zstd_parts, lambda n, f: ["-q", "-f", "-c", "-7", "-B256K", "-T%d" % n, f]),
}


def build(intact, name, src, tmp, noop):
    """{column: executable}; columns whose compiler is missing or fails are left out."""
    out = {}
    for c, (cc, cxx, flags, env) in compilers(intact).items():
        exe = os.path.join(tmp, name.split()[0] + "." + c)
        floor = (noop, exe + ".no-op") if c == "intact" else None
        try:
            make(cc, cxx, flags, env, PROGRAMS[name][1](src), exe, floor)
            out[c] = exe
            if floor:
                out["no-op"] = floor[1]
        except (subprocess.CalledProcessError, FileNotFoundError) as e:
            why = (getattr(e, "stderr", None) or str(e).encode()).decode(errors="replace").strip().split("\n")[-1]
            print("%s: %s skipped: %s" % (name, c, why[:200]), flush=True)
    return out
