#!/bin/sh
# Entry point of an image for Spark on Kubernetes: `driver ARGUMENTS` and `executor` are what Spark
# passes to it. Other arguments are a command.
set -eu
[ $# -gt 0 ] || exit 2
SPARK_HOME=$(python -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
export SPARK_HOME
case $1 in
driver)
  shift
  exec "$SPARK_HOME/bin/spark-submit" --conf "spark.driver.bindAddress=$SPARK_DRIVER_BIND_ADDRESS" --deploy-mode client "$@"
  ;;
executor)
  # Spark numbers the options of the virtual machine: SPARK_JAVA_OPT_0 and so on.
  env | sed -n 's/^SPARK_JAVA_OPT_[0-9]*=//p' >/tmp/java-options
  set --
  while IFS= read -r option; do set -- "$@" "$option"; done </tmp/java-options
  exec java "$@" "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" -cp "$SPARK_HOME/jars/*" \
    org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
    --driver-url "$SPARK_DRIVER_URL" --executor-id "$SPARK_EXECUTOR_ID" --cores "$SPARK_EXECUTOR_CORES" \
    --app-id "$SPARK_APPLICATION_ID" --hostname "$SPARK_EXECUTOR_POD_IP" \
    --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" --podName "$SPARK_EXECUTOR_POD_NAME"
  ;;
*) exec "$@" ;;
esac
