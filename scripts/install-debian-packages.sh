#!/usr/bin/env bash
# Installs the Debian packages that the tests use, for users and for CI alike. Needs root, or sudo.
#   curl     requests as people send them, by node port
#   dig      asks DNS as people do (bind9-dnsutils)
#   nft, ip, conntrack, sysctl (nftables, iproute2, conntrack, procps)  rules in the kernel, between network namespaces
#   strace   shows that no write is answered before its sync
#   etcd     keeps the objects of several API servers (etcd-server)
#   openssl  checks the certificates that the plane makes
set -euo pipefail
packages=(bind9-dnsutils conntrack curl etcd-server iproute2 nftables openssl procps strace)
missing=()
for package in "${packages[@]}"; do dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package"); done
if [ ${#missing[@]} = 0 ]; then echo "Debian packages: all there (${packages[*]})" >&2; exit 0; fi
run=(); [ "$(id -u)" = 0 ] || run=(sudo)
"${run[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
