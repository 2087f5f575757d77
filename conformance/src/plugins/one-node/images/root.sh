#!/bin/sh
# root.sh KIND: builds the root file system of the image for tasks of a kind: Debian with the
# packages of requirements-KIND.txt in /opt/venv.
# Prints its folder. Built once for each content of this folder's files, in minutes; needs root,
# debootstrap and kubectl.
set -eu
cd "$(dirname "$0")"
kind=$1
cache=${FLYTE_TS_CACHE:-$HOME/.cache/flyte-ts}
root=$cache/one-node/$kind-$(cat root.sh "requirements-$kind.txt" spark-entrypoint.sh | sha256sum | cut -c1-12)
. ../../../../../deploy/stand-ins/debian.sh

# Packages of Debian. PyPI's PyTorch needs CUDA, and takes gigabytes.
case $kind in
kubeflow) packages="python3-torch python3-mpi4py openmpi-bin" ;;
spark) packages="openjdk-17-jre-headless procps" ;;
# KubeRay's probes call wget.
ray) packages="procps wget" ;;
*) packages= ;;
esac

if [ ! -e "$root.complete" ]; then
  debian "$cache/stand-ins/debian" >&2
  echo "the image for tasks of $kind (once, minutes)" >&2
  rm -rf "$root"
  mkdir -p "$cache/one-node"
  cp -a "$cache/stand-ins/debian" "$root"
  rm -f "$root/complete"
  cp "requirements-$kind.txt" "$root/tmp/requirements.txt"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  # Java's package runs Java, which reads /proc.
  mount -t proc proc "$root/proc"
  trap 'umount "$root/proc"' EXIT
  PACKAGES=$packages chroot "$root" /bin/sh -e >&2 <<'IN'
export PATH=/opt/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt PIP_CERT=/etc/ssl/certs/ca-certificates.crt
export DEBIAN_FRONTEND=noninteractive
if [ -n "$PACKAGES" ]; then
  # Java's package has links to manual pages.
  mkdir -p /usr/share/man/man1
  apt-get update -qq
  apt-get install -qq -y --no-install-recommends $PACKAGES >/dev/null
  rm -rf /var/cache/apt/archives/*.deb /var/lib/apt/lists/* /usr/share/doc
fi
python3 -m venv --system-site-packages /opt/venv
pip install --quiet --disable-pip-version-check uv==0.13.9
uv pip install --quiet --native-tls --no-cache --python /opt/venv/bin/python -r /tmp/requirements.txt
pip uninstall --quiet --yes uv
python -m compileall -q -j 0 /opt/venv/lib || true
# A login shell, as KubeRay's, sets the PATH anew.
echo 'export PATH=/opt/venv/bin:$PATH' >/etc/profile.d/venv.sh
IN
  umount "$root/proc"
  trap - EXIT
  install -m 755 spark-entrypoint.sh "$root/opt/spark-entrypoint.sh"
  # The launcher of an MPI job starts the other processes with kubectl.
  [ "$kind" != kubeflow ] || install -m 755 "$(command -v kubectl)" "$root/usr/local/bin/kubectl"
  rm -f "$root/tmp/requirements.txt" "$root/etc/resolv.conf"
  touch "$root.complete"
fi
echo "$root"
