#!/bin/sh
# Installs the Debian packages that a Kubernetes node needs. The servers are built by npm start from
# their Go modules, once. Needs root.
set -eu
missing=
for program in containerd:containerd runc:runc iptables:iptables conntrack:conntrack ip:iproute2 openssl:openssl debootstrap:debootstrap; do
  command -v "${program%%:*}" >/dev/null || missing="$missing ${program##*:}"
done
[ -e /usr/lib/cni/bridge ] || [ -e /opt/cni/bin/bridge ] || missing="$missing containernetworking-plugins"
if [ -n "$missing" ]; then
  echo "one-node: installing$missing"
  # Disable the packages' services: an init would start them, and they would occupy the sockets.
  apt-get update -qq >/dev/null
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null
fi
command -v go >/dev/null || { echo "one-node: Go 1.24 or newer is needed to build Kubernetes"; exit 1; }
command -v kubectl >/dev/null || { echo "one-node: kubectl is needed"; exit 1; }
