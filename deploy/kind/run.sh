#!/bin/sh
# `deploy/kind/run.sh [npm start's flags]`: a cluster by kind, and the local stack as processes of this machine whose tasks are pods there.
# For Linux with Docker, kind and a way to image registries. The cluster stays; `kind delete cluster --name flyte-ts` removes it.
# Not tried where this is developed: no registry can be reached there (deploy/one-node needs none).
set -eu
cd "$(dirname "$0")/../.."
kubeconfig=${FLYTE_TS_KIND_KUBECONFIG:-$PWD/.flyte-ts/kind/kubeconfig}
mkdir -p "$(dirname "$kubeconfig")"

kind get clusters 2>/dev/null | grep -qx flyte-ts || kind create cluster --name flyte-ts --wait 120s --kubeconfig "$kubeconfig"
kind export kubeconfig --name flyte-ts --kubeconfig "$kubeconfig"
# This machine, as the nodes see it.
host=$(docker network inspect kind -f '{{range .IPAM.Config}}{{println .Gateway}}{{end}}' | grep -m1 '^[0-9.]*$')
exec npm start -- --data "$(dirname "$kubeconfig")" --kubeconfig "$kubeconfig" --host "$host" "$@"
