# Sourced by the other scripts (POSIX sh). It provides what they need before cargo runs: Rust, a
# linker, a private runtime directory, and a GPU adapter if possible.

# The Debian packages of Mesa's software Vulkan driver and the Vulkan loader.
GPU_PACKAGES="mesa-vulkan-drivers libvulkan1"

say() {
    printf '%s\n' "$*" >&2
}

# Removes temporary files of the scripts; for the caller's trap.
clean_up() {
    if [ -n "${own_runtime_dir:-}" ]; then
        rm -rf "$own_runtime_dir"
    fi
}

# Checks for Rust, new enough, and a C compiler to link with; prints one line and returns 1 if one is missing. In
# the project's folder, or with `root` set to it.
need_rust() {
    if ! command -v cargo >/dev/null 2>&1 && [ -f "${HOME:-}/.cargo/env" ]; then
        # shellcheck disable=SC1091 # rustup wrote it
        . "$HOME/.cargo/env"
    fi
    if ! command -v cargo >/dev/null 2>&1; then
        say "cargo is not there: install Rust from https://rustup.rs"
        return 1
    fi
    oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "${root:-.}/Cargo.toml")
    installed=$(rustc --version | cut -d ' ' -f 2)
    if [ "$(printf '%s\n' "$oldest" "$installed" | sort -V | head -n 1)" != "$oldest" ]; then
        say "Rust $installed is older than $oldest, which wgmax needs: https://rustup.rs has the newest"
        return 1
    fi
    if ! command -v cc >/dev/null 2>&1; then
        say "cc is not there, and Rust links with it: install a C compiler (Debian, Ubuntu: apt install gcc libc6-dev)"
        return 1
    fi
}

# Provides the standard library for browsers: rustup's, or without rustup Debian's compiler and its source.
# Sets WASM_CARGO, the cargo to call, and WASM_FLAGS for it.
need_wasm() {
    WASM_CARGO=cargo WASM_FLAGS=
    wasm_target=wasm32-unknown-unknown
    if command -v rustup >/dev/null 2>&1; then
        rustup target list --installed | grep -qx $wasm_target || rustup target add $wasm_target
    elif ! [ -d "$(rustc --print sysroot)/lib/rustlib/$wasm_target" ]; then
        need_command wasm-ld-19 rustc-web cargo-web rust-web-src lld-19 || return 1
        WASM_CARGO=/usr/bin/cargo WASM_FLAGS=-Zbuild-std=std,panic_abort
        export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1
        export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-19
    fi
}

# Drivers look for XDG_RUNTIME_DIR and complain if it is not set.
need_runtime_dir() {
    if [ -z "${XDG_RUNTIME_DIR:-}" ]; then
        own_runtime_dir=$(mktemp -d) || return 1
        XDG_RUNTIME_DIR=$own_runtime_dir
        export XDG_RUNTIME_DIR
    fi
}

# Whether the dynamic linker knows a shared library. On Debian ldconfig is
# not in an ordinary user's PATH.
has_library() {
    PATH="$PATH:/usr/sbin:/sbin" ldconfig -p 2>/dev/null | grep -F "$1" >/dev/null
}

# Whether a Vulkan driver is named by the environment or installed.
has_driver() {
    if [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ]; then
        return 0
    fi
    for manifest in /usr/share/vulkan/icd.d/*.json /etc/vulkan/icd.d/*.json; do
        if [ -f "$manifest" ]; then
            return 0
        fi
    done
    return 1
}

# Whether an adapter can be expected. Systems other than Linux have one.
has_adapter() {
    [ "$(uname -s)" = Linux ] || return 0
    has_driver && has_library libvulkan.so.1
}

# Runs its arguments as root, or fails without asking for a password.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

can_install() {
    command -v apt-get >/dev/null 2>&1 && as_root true >/dev/null 2>&1
}

# apt_install PACKAGE...: installs packages, and prints the log only on failure.
apt_install() {
    apt_log=$(mktemp) || return 1
    say "installing $* ..."
    if {
        as_root env DEBIAN_FRONTEND=noninteractive apt-get update &&
            as_root env DEBIAN_FRONTEND=noninteractive \
                apt-get install -y --no-install-recommends "$@"
    } >"$apt_log" 2>&1 </dev/null; then
        rm -f "$apt_log"
        return 0
    fi
    cat "$apt_log" >&2
    rm -f "$apt_log"
    return 1
}

# Provides an adapter, and installs one if necessary and allowed; else prints one line and returns
# 1.
need_adapter() {
    if has_adapter; then
        return 0
    fi
    # shellcheck disable=SC2086 # the packages are words
    if can_install && apt_install $GPU_PACKAGES && has_adapter; then
        return 0
    fi
    say "no GPU adapter: install a Vulkan driver, in software if need be (Debian, Ubuntu: apt install $GPU_PACKAGES)"
    return 1
}

# need_swiftshader FILE: Chromium's SwiftShader as a Vulkan driver, by a manifest that is written to the
# file. Chromium's own has a path relative to itself.
need_swiftshader() {
    need_command chromium chromium || return 1
    swiftshader_library=/usr/lib/chromium/libvk_swiftshader.so
    [ -f $swiftshader_library ] || { say "$swiftshader_library is not there"; return 1; }
    cat >"$1" <<JSON
{
  "file_format_version": "1.0.0",
  "ICD": { "api_version": "1.1.0", "library_path": "$swiftshader_library" }
}
JSON
}

# need_tests FILTER...: fails if a filter selects none of the library's integration tests.
need_tests() {
    all_tests=$(cargo test --release --test all -- --list) || return 1
    for filter in "$@"; do
        case $all_tests in
            *"$filter"*) ;;
            *)
                say "$filter selects no test"
                return 1
                ;;
        esac
    done
}

# need_command COMMAND PACKAGE...: provides a command, installed if necessary and allowed.
need_command() {
    wanted=$1
    shift
    command -v "$wanted" >/dev/null 2>&1 && return 0
    if can_install && apt_install "$@" && command -v "$wanted" >/dev/null 2>&1; then
        return 0
    fi
    say "$wanted is not there (Debian, Ubuntu: apt install $*)"
    return 1
}

# Node and npm.
need_npm() {
    need_command node nodejs && need_command npm npm
}

# python3 of 3.10 or later, with the module that makes virtual environments, which Debian has in a package
# of its own.
need_python() {
    need_command python3 python3 python3-venv || return 1
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        can_install && apt_install python3-venv || { say "to install: apt install python3-venv"; return 1; }
    fi
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        { say "python3 is older than 3.10"; return 1; }
}

# into VENV PACKAGE...: installs packages in a virtual environment.
into() {
    venv=$1
    shift
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

# fetch FOLDER COMMAND ARGUMENT...: makes the folder by the command, which gets a temporary
# folder as its last argument. Tries twice, and keeps no incomplete folder.
fetch() {
    fetch_to=$1
    shift
    [ -d "$fetch_to" ] && return 0
    mkdir -p "$(dirname "$fetch_to")" && fetch_new=$(mktemp -d "$fetch_to.XXXXXX") || return 1
    say "fetching ${fetch_to##*/} ..."
    for fetch_wait in 5 0; do
        if "$@" "$fetch_new" >"$fetch_new.log" 2>&1 </dev/null; then
            rm -f "$fetch_new.log"
            chmod 755 "$fetch_new" && mv -T "$fetch_new" "$fetch_to"
            return
        fi
        sleep "$fetch_wait"
    done
    tail -n 20 "$fetch_new.log" >&2
    rm -rf "$fetch_new" "$fetch_new.log"
    say "${fetch_to##*/} could not be fetched, in two tries: is the package registry reachable?"
    return 1
}

# npm_package PACKAGE@VERSION FOLDER: installs it there, without running its scripts.
npm_package() {
    npm install --no-audit --no-fund --no-save --ignore-scripts --prefix "$2" "$1"
}
