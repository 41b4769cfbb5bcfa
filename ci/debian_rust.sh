# Sourced by msrv.sh, targets.sh and tsan.sh: Debian's rustc-web, the compiler of its browsers, which is the oldest that
# the libraries promise to compile with. It is unpacked below the target folder and not installed, with the standard
# library of other architectures and with its source. Needs apt and the keys of Debian (debian-archive-keyring), no root.

# debian_rust VERSION [ARCHITECTURE…]: unpacks what is missing, and sets RUSTC.
debian_rust() {
    local version=$1 folder architectures=(amd64 "${@:2}") architecture package packages=() source release llvm
    folder=${CARGO_TARGET_DIR:-$PWD/target}/debian-rust-$version
    mkdir -p "$folder"
    folder=$(realpath "$folder")
    export RUSTC=$folder/rustc
    for architecture in "${architectures[@]}"; do
        [[ -e $folder/has-$architecture ]] || packages+=("libstd-rust-web-dev:$architecture")
    done
    ((${#packages[@]} > 0)) || return 0

    # Lists of apt's own are left alone, and so are the architectures that the system has.
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/packages"
    source="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian"
    cat >"$folder/apt/sources" <<<"deb $source bookworm main"
    cat >"$folder/apt/conf" <<END
Dir::State::lists "$folder/apt/lists";
Dir::Cache "$folder/apt/cache";
Dir::Etc::sourcelist "$folder/apt/sources";
Dir::Etc::sourceparts "-";
APT::Sandbox::User "$(id -un)";
APT::Architectures { "$(dpkg --print-architecture)"; $(printf '"%s"; ' "${architectures[@]}") };
END
    export APT_CONFIG=$folder/apt/conf
    apt-get update --quiet=2
    release=$(apt-cache madison rustc-web | awk -v v="$version." 'index($3, v) == 1 && !seen++ { print $3 }')
    [[ -n $release ]] || {
        echo "debian_rust.sh: Debian has no rustc-web $version, but: $(apt-cache madison rustc-web)" >&2
        return 1
    }
    if [[ ! -e $folder/has-amd64 ]]; then
        llvm=$(apt-cache depends "libstd-rust-web-$version=$release" |
            awk '$1 == "Depends:" && $2 ~ /^libllvm/ && !seen++ { print $2 }')
        packages+=(rustc-web "libstd-rust-web-$version" rust-web-src)
    fi
    packages=("${packages[@]/%/=$release}")
    (cd "$folder/packages" && apt-get download --quiet=2 "${packages[@]}" ${llvm:+"$llvm"})
    unset APT_CONFIG
    for package in "$folder"/packages/*.deb; do
        dpkg -x "$package" "$folder/root"
        rm "$package"
    done
    cat >"$RUSTC" <<END
#!/bin/sh
LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu exec $folder/root/usr/bin/rustc --sysroot $folder/root/usr "\$@"
END
    chmod +x "$RUSTC"
    for architecture in "${architectures[@]}"; do
        touch "$folder/has-$architecture"
    done
}
