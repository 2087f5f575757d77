#!/bin/sh
# Installs what a Kubernetes node needs of this machine, from Debian's packages. The servers themselves come from npm start's sources:
# Go modules, built once. Needs root.
set -eu
missing=
for program in containerd:containerd runc:runc iptables:iptables conntrack:conntrack ip:iproute2 openssl:openssl debootstrap:debootstrap; do
  command -v "${program%%:*}" >/dev/null || missing="$missing ${program##*:}"
done
[ -e /usr/lib/cni/bridge ] || [ -e /opt/cni/bin/bridge ] || missing="$missing containernetworking-plugins"
if [ -n "$missing" ]; then
  echo "one-node: installing$missing"
  # The packages' own services are not needed, and where there is an init they would take the sockets' names.
  apt-get update -qq >/dev/null
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null
fi
command -v go >/dev/null || { echo "one-node: Go 1.24 or newer is needed to build Kubernetes"; exit 1; }
command -v kubectl >/dev/null || { echo "one-node: kubectl is needed"; exit 1; }
