package configfile_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/configfile"
)

// FuzzRead checks that any file yields valid nodes, or faults with a place, the expected value and the found one. An error never contains a
// secret.
func FuzzRead(f *testing.F) {
	faulty, err := os.ReadFile("testdata/faults.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{configfile.Example(), string(faulty), `{"nodes":[{"id":"XA"}]}`, "nodes: [&a {}, {<<: *a}]", "a: &a [*a]", "nodes: 3", "? [x]\n: y"} {
		f.Add(seed, "canary-7f3a")
	}
	f.Fuzz(func(t *testing.T, data, secret string) {
		file, err := configfile.Read(source(data))
		var faults configfile.Faults
		switch {
		case err == nil:
			for _, c := range file.Nodes(sandbox.Config{}) {
				if err := c.Validate(); err != nil {
					t.Fatalf("invalid node: %v", err)
				}
			}
			return
		case !errors.As(err, &faults) || len(faults) == 0:
			t.Fatalf("want faults, got %v", err)
		}
		for _, fault := range faults {
			if fault.Line < 1 || fault.Column < 1 || fault.Expected == "" || fault.Got == "" {
				t.Fatalf("incomplete fault: %+v", fault)
			}
		}
		if len(secret) > 6 && !strings.ContainsAny(secret, "\n'\"\\:#") {
			_, err = configfile.Read(source("nodes: [{clients: [{id: a, secret: '" + secret + "', role: []}]}]"))
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Fatalf("the error contains the secret: %v", err)
			}
		}
	})
}
