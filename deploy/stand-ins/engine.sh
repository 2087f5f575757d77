#!/bin/sh
# Installs a Docker engine with compose on machines without one: Debian's package, and compose from
# its Go module.
# Starts the engine unless it runs; `stop` stops an engine that this script started and removes its
# bridge.
set -eu
cache=${FLYTE_TS_CACHE:-$HOME/.cache/flyte-ts}
pidfile=/var/run/flyte-ts-docker.pid
COMPOSE=v2.39.4

if [ "${1:-}" = stop ]; then
  [ -e $pidfile ] || exit 0
  pid=$(cat $pidfile)
  # The engine deletes the file on exit.
  kill "$pid" && while [ -e $pidfile ] && kill -0 "$pid" 2>/dev/null; do sleep 1; done
  rm -f $pidfile
  ip link delete docker0 2>/dev/null || true
  exit 0
fi

if ! docker compose version >/dev/null 2>&1; then
  echo "engine: docker compose $COMPOSE from its Go module (once, some minutes)"
  mkdir -p "$cache/compose" "$HOME/.docker/cli-plugins"
  cd "$cache/compose"
  printf 'module tools\n\ngo 1.24\n' >go.mod
  printf '//go:build tools\n\npackage tools\n\nimport _ "github.com/docker/compose/v2/cmd"\n' >tools.go
  go get -C . github.com/docker/compose/v2@$COMPOSE 2>/dev/null && go mod tidy 2>/dev/null
  go build -o "$HOME/.docker/cli-plugins/docker-compose" github.com/docker/compose/v2/cmd
  cd - >/dev/null
fi
docker info >/dev/null 2>&1 && exit 0
if ! command -v dockerd >/dev/null; then
  echo "engine: docker.io from Debian"
  apt-get update -qq >/dev/null
  apt-get install -qq -y --no-install-recommends docker.io debootstrap >/dev/null
fi
setsid nohup dockerd --pidfile $pidfile >"$cache/dockerd.log" 2>&1 &
for _ in $(seq 60); do
  docker info >/dev/null 2>&1 && exit 0
  sleep 1
done
tail -5 "$cache/dockerd.log"
echo "engine: dockerd did not come up"
exit 1
