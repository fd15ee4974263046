"""A library with lines and a recording of it: made_program.py DIRECTORY builds DIRECTORY/libprogram.so with the compiler of
this machine and writes DIRECTORY/program.mtr, whose 20 stacks are caller > grow > fill, the last one inlined; caller and grow are static
functions, named by .symtab alone. For x86-64: the recording says so."""
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/recording"))
import corpus as make  # noqa: E402

# The samples are at 0x400100, and were called from 0x400200: grow and caller are to be there when the file is mapped from
# 0x3ff000 on.
SOURCE = """
#define KEPT static __attribute__((used, noinline, aligned(128)))
static inline __attribute__((always_inline)) void fill(void)
{
	__asm__ volatile(".skip 64, 0x90");
}
KEPT void first(void)
{
	__asm__ volatile(".skip 200, 0x90");
}
KEPT void grow(void)
{
	fill();
}
KEPT void caller(void)
{
	__asm__ volatile(".skip 200, 0x90");
}
int exported(int a)
{
	return a + 1;
}
"""
FLAGS = ["-O2", "-g", "-shared", "-fPIC", "-nostdlib", "-fomit-frame-pointer", "-fno-toplevel-reorder", "-fcf-protection=none",
         "-Wl,-z,noseparate-code", "-Wl,-Ttext=0x1000", "-Wl,--build-id=sha1"]


def recording(path, build_id):
    writer = make.begun(codec=make.ZSTD)
    writer.chunk(make.STATE, make.task(), make.map_record(0x3FF000, 0x500000, path), make.image(path, build_id))
    writer.chunk(make.DATA, *[make.sample(make.FAULTS, 1200 + 10 * i) for i in range(20)], stream=1)
    return make.ended(writer, 20)


def build_id_of(path):
    notes = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True, check=True).stdout
    return bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", notes).group(1))


def main():
    folder = os.path.abspath(sys.argv[1])
    source, path = os.path.join(folder, "program.c"), os.path.join(folder, "libprogram.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(SOURCE)
    # the same bytes wherever it is built
    subprocess.run([*shlex.split(os.environ.get("CC", "cc")), *FLAGS, f"-ffile-prefix-map={folder}=/made", "program.c", "-o", path],
                   check=True, cwd=folder)
    with open(os.path.join(folder, "program.mtr"), "wb") as file:
        file.write(recording(path, build_id_of(path)))


if __name__ == "__main__":
    main()
