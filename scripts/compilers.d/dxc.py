"""Compiles HLSL as wgpu does for DX12, by the DXC of a shared library.

    dxc.py LIBRARY --version
    dxc.py LIBRARY FILE...

One line a file: the file, `accepted` or `refused`, and the compiler's messages, after tabs.
"""

import ctypes
import sys
import uuid
from ctypes import POINTER, c_int32, c_size_t, c_uint32, c_void_p, c_wchar_p

# The flags of wgpu-hal (compile_dxc).
FLAGS = ["-E", "main", "-T", "cs_6_0", "-HV", "2018", "-no-warnings", "-Ges"]
UTF8 = 65001
# DXC prints this for every shader if this library of Windows is missing.
UNSIGNED = "warning: DXIL signing library (dxil.dll,libdxil.so) not found."


def guid(text):
    return ctypes.create_string_buffer(uuid.UUID(text).bytes_le, 16)


COMPILER_CLASS = guid("73e22d93-e6ce-47f3-b5bf-f0664f39c1b0")
COMPILER = guid("228b4687-5a6a-4730-900c-9702b2203f54")
RESULT = guid("58346cda-dde7-4497-9461-6f87af5e0659")
VERSION = guid("b04f5b50-2059-4f12-a8ff-a1e0cde1cc7e")


class Buffer(ctypes.Structure):
    _fields_ = [("start", ctypes.c_char_p), ("size", c_size_t), ("encoding", c_uint32)]


def method(index, *types, result=c_int32):
    """The method at an index of a COM object's table of methods."""
    kind = ctypes.CFUNCTYPE(result, c_void_p, *types)

    def call(this, *arguments):
        table = ctypes.cast(this, POINTER(POINTER(c_void_p)))[0]
        value = kind(table[index])(this, *arguments)
        if result is c_int32 and value < 0:
            sys.exit(f"dxc: method {index}: error {value & 0xFFFFFFFF:#x}")
        return value

    return call


query = method(0, c_void_p, POINTER(c_void_p))
release = method(2, result=c_uint32)
get_version = method(3, POINTER(c_uint32), POINTER(c_uint32))
compile_text = method(
    3, POINTER(Buffer), POINTER(c_wchar_p), c_uint32, c_void_p, c_void_p, POINTER(c_void_p)
)
get_status = method(3, POINTER(c_int32))
get_errors = method(5, POINTER(c_void_p))
blob_start = method(3, result=c_void_p)
blob_size = method(4, result=c_size_t)


def version(compiler):
    info, major, minor = c_void_p(), c_uint32(), c_uint32()
    query(compiler, VERSION, info)
    get_version(info, major, minor)
    return f"{major.value}.{minor.value}"


def compile_file(compiler, path):
    """Whether a file is accepted, and the messages. wgpu refuses a shader with messages."""
    with open(path, "rb") as file:
        text = file.read()
    flags = (c_wchar_p * len(FLAGS))(*FLAGS)
    result, status, blob = c_void_p(), c_int32(), c_void_p()
    buffer = Buffer(text, len(text), UTF8)
    compile_text(compiler, buffer, flags, len(flags), None, RESULT, result)
    get_status(result, status)
    get_errors(result, blob)
    messages = ""
    if blob:
        messages = ctypes.string_at(blob_start(blob), blob_size(blob)).decode(errors="replace")
        release(blob)
    release(result)
    lines = [line.strip("\0\r ") for line in messages.split("\n")]
    lines = [line for line in lines if line and not line.startswith(UNSIGNED)]
    return status.value >= 0 and not lines, lines


def main():
    library, *files = sys.argv[1:]
    create = ctypes.CDLL(library).DxcCreateInstance
    create.argtypes = [c_void_p, c_void_p, POINTER(c_void_p)]
    compiler = c_void_p()
    if create(COMPILER_CLASS, COMPILER, compiler) < 0:
        sys.exit(f"dxc: {library} has no compiler")
    if files == ["--version"]:
        print(version(compiler))
        return
    for path in files:
        good, lines = compile_file(compiler, path)
        print(path, "accepted" if good else "refused", *lines, sep="\t", flush=True)


main()
