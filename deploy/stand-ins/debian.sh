# shellcheck shell=sh
# debian FOLDER: builds a root file system of Debian 12 with Python and HAProxy once; needs root and
# debootstrap.
# Source this file.

# A proxy with a certificate that only this machine trusts may be between it and the registries.
trust() {
  mkdir -p "$1/etc/ssl/certs"
  cp -L "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$1/etc/ssl/certs/ca-certificates.crt"
}

debian() {
  [ -e "$1/complete" ] && return
  echo "a Debian with Python and HAProxy (once, two minutes)"
  rm -rf "$1"
  mkdir -p "$(dirname "$1")"
  debootstrap --variant=minbase \
    --include=ca-certificates,python3,python3-venv,python3-pip,libstdc++6,tzdata,netbase,haproxy,libxml2 \
    bookworm "$1" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$1.log" 2>&1
  rm -rf "$1/var/cache/apt/archives" "$1/var/lib/apt/lists" "$1/usr/share/doc" "$1/usr/share/man"
  trust "$1"
  touch "$1/complete"
}
