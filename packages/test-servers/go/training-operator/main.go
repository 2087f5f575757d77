// The training operator's controllers for PyTorchJob, TFJob and MPIJob, without its webhooks: the
// published program reads their certificates from a fixed folder, which two runs would share.
package main

import (
	"flag"
	"os"

	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/config"
	controllers "github.com/kubeflow/training-operator/pkg/controller.v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"k8s.io/apimachinery/pkg/runtime"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	// Registered by controller-runtime: --kubeconfig.
	address := flag.String("health-probe-bind-address", ":8081", "address of the readiness probe")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*address); err != nil {
		ctrl.Log.Error(err, "the training operator ends")
		os.Exit(1)
	}
}

func run(address string) error {
	// The defaults of the published program's flags.
	config.Config.PyTorchInitContainerImage = config.PyTorchInitContainerImageDefault
	config.Config.PyTorchInitContainerTemplateFile = config.PyTorchInitContainerTemplateFileDefault
	config.Config.PyTorchInitContainerMaxTries = config.PyTorchInitContainerMaxTriesDefault
	config.Config.MPIKubectlDeliveryImage = config.MPIKubectlDeliveryImageDefault
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{kubernetes.AddToScheme, kubeflow.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                 scheme,
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: address,
	})
	if err != nil {
		return err
	}
	for _, kind := range []string{kubeflow.PyTorchJobKind, kubeflow.TFJobKind, kubeflow.MPIJobKind} {
		if err := controllers.SupportedSchemeReconciler[kind](manager, common.GenNonGangSchedulerSetupFunc(), 4); err != nil {
			return err
		}
	}
	if err := manager.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
