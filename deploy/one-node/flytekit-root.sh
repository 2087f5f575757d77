#!/bin/sh
# Builds the root file system of the tasks' image: Debian with flytekit and the requirements of
# examples/python, in /opt/venv.
# Prints its folder. Built once for each examples/python/requirements.txt, in two minutes; needs
# root and debootstrap.
set -eu
cd "$(dirname "$0")"
cache=${FLYTE_TS_CACHE:-$HOME/.cache/flyte-ts}
requirements=../../examples/python/requirements.txt
root=$cache/one-node/flytekit-$(sha256sum $requirements | cut -c1-12)
. ../stand-ins/debian.sh

if [ ! -e "$root.complete" ]; then
  debian "$cache/stand-ins/debian" >&2
  echo "flytekit in a root file system (once, two minutes)" >&2
  rm -rf "$root"
  mkdir -p "$cache/one-node"
  cp -a "$cache/stand-ins/debian" "$root"
  rm -f "$root/complete"
  cp $requirements "$root/tmp/requirements.txt"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  chroot "$root" /bin/sh -e >&2 <<'IN'
export PATH=/opt/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt PIP_CERT=/etc/ssl/certs/ca-certificates.crt
python3 -m venv /opt/venv
# uv resolves in seconds; pip would take minutes.
pip install --quiet --disable-pip-version-check uv==0.13.9
uv pip install --quiet --native-tls --no-cache --python /opt/venv/bin/python -r /tmp/requirements.txt
pip uninstall --quiet --yes uv
python -m compileall -q -j 0 /opt/venv/lib || true
IN
  rm -f "$root/tmp/requirements.txt" "$root/etc/resolv.conf"
  touch "$root.complete"
fi
echo "$root"
