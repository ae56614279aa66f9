package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/worker"
)

// workerCommand is what rin starts itself with; nobody types it.
func workerCommand(w world) *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Talk to a node as the child of rin certify",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Events own the real stdout; whatever a library prints goes to stderr instead.
			os.Stdout = os.Stderr
			if err := worker.Serve(cmd.Context(), w.in, w.out); err != nil {
				return internal(err)
			}
			return nil
		},
	}
}

// child is the command line of a worker of this binary, with the smallest environment that certificates are found in.
func child(w world) (*worker.Command, error) {
	if w.executableErr != nil {
		return nil, internal(w.executableErr)
	}
	var env []string
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if value, set := w.getenv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return &worker.Command{Path: w.executable, Args: []string{"worker"}, Env: env}, nil
}
