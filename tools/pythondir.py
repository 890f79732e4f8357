#!/usr/bin/env python3
"""pythondir.py PREFIX: where a Python package goes that is installed under PREFIX, so that this python3 finds it if it can."""
import sysconfig
import sys

prefix = sys.argv[1].rstrip("/")
schemes = sysconfig.get_scheme_names()
if prefix == "/usr" and "deb_system" in schemes:  # Debian: distribution packages
    scheme, base = "deb_system", "/usr"
elif prefix == "/usr/local" and "posix_local" in schemes:  # Debian: the administrator's
    scheme, base = "posix_local", "/usr"
else:
    scheme, base = "posix_prefix", prefix
print(sysconfig.get_path("purelib", scheme, {"base": base, "platbase": base}))
