package baseline

import (
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Write writes a baseline for its operator to complete.
func Write(w io.Writer, b Baseline) error {
	type entry struct {
		ID     string    `yaml:"id"`
		Reason string    `yaml:"reason"`
		Until  yaml.Node `yaml:"until"`
	}
	file := struct {
		Schema string  `yaml:"schema"`
		Known  []entry `yaml:"known"`
	}{Version, []entry{}}
	for _, e := range b.Known {
		// A plain scalar: without its own node the day would be quoted, as the text that it is in Go.
		file.Known = append(file.Known, entry{string(e.ID), e.Reason, yaml.Node{Kind: yaml.ScalarNode, Value: string(e.Until)}})
	}
	data, err := yaml.Marshal(file)
	if err != nil {
		return fmt.Errorf("encode the baseline: %w", err)
	}
	_, err = fmt.Fprintf(w, "# Failures that are known, for rin certify --baseline. Say in each reason who mends it; after the day in\n"+
		"# until it counts as new. A run with a baseline is never a certificate.\n%s", data)
	return err
}
