package main

import (
	"github.com/spf13/cobra"
)

// newRoot builds the command tree.
func newRoot(w world) *cobra.Command {
	root := &cobra.Command{
		Use:   "rin",
		Short: "Prove that a research-information node keeps the rules",
		Long: `rin is the proving ground of a network of research-information nodes:
a sandbox node to build against, a conformance suite that certifies a live
node against its own OpenAPI document, the network's interface document and
the OAuth rules, and a tour that walks the authorization flow step by step.

Results go to standard output, everything else to standard error.
Exit codes: 0 certified, 1 not certified, 2 usage, 3 inconclusive, 4 internal
error.`,
		Example: `  rin demo                       certify a sandbox node and read the report
  rin sandbox                    serve a node on 127.0.0.1:8080
  rin certify --registry https://registry.example/ris.json --node XA \
      --client-id my-client --client-secret env:MY_SECRET --profile funding
  rin tour                       walk from the registry to a funding call
  rin explain BRR-02             what a requirement asks for, and why`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetUsageFunc(tellUsage)
	root.PersistentFlags().Bool("no-color", false, "never colour the output (NO_COLOR does the same)")
	root.SetVersionTemplate(versions()) // the same as by the command
	root.AddCommand(
		demoCommand(w), sandboxCommand(w), certifyCommand(w), judgeCommand(w),
		explainCommand(w), requirementsCommand(w), tokenCommand(w), tourCommand(w), fixturesCommand(w),
		clientCommand(w), versionCommand(w), workerCommand(w),
	)
	return root
}
