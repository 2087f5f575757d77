#!/bin/sh
# `deploy/kind/run.sh [npm start's flags]`: creates a cluster with kind and runs the local stack as
# processes of this machine; tasks run as pods in the cluster.
# Needs Linux with Docker, kind and access to image registries. The cluster stays; `kind delete
# cluster --name flyte-ts` deletes it.
# Untested: the development machines have no access to registries (deploy/one-node needs none).
set -eu
cd "$(dirname "$0")/../.."
kubeconfig=${FLYTE_TS_KIND_KUBECONFIG:-$PWD/.flyte-ts/kind/kubeconfig}
mkdir -p "$(dirname "$kubeconfig")"

kind get clusters 2>/dev/null | grep -qx flyte-ts || kind create cluster --name flyte-ts --wait 120s --kubeconfig "$kubeconfig"
kind export kubeconfig --name flyte-ts --kubeconfig "$kubeconfig"
# This machine's address as seen from the nodes.
host=$(docker network inspect kind -f '{{range .IPAM.Config}}{{println .Gateway}}{{end}}' | grep -m1 '^[0-9.]*$')
exec npm start -- --data "$(dirname "$kubeconfig")" --kubeconfig "$kubeconfig" --host "$host" "$@"
