package configfile_test

import (
	"errors"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/configfile"
)

// update makes tests rewrite their golden files.
var update = os.Getenv("RIN_UPDATE_GOLDEN") != ""

func TestConfigFile(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "configfile")
}

// source returns a source with this data, some options, one secret and no JWK Set.
func source(data string) configfile.Source {
	return configfile.Source{
		Data: []byte(data),
		Options: []configfile.Option{
			{Name: "addr", Expected: "a text"}, {Name: "nodes", Expected: "a number"}, {Name: "seed", Expected: "a number from 0"},
			{Name: "calls", Expected: "a number"}, {Name: "paging", Expected: "a text"}, {Name: "deviate", Expected: "a text, or a list of them", List: true},
		},
		Secret: func(reference string) (string, error) {
			if reference == "env:READER" {
				return "a secret of the environment", nil
			}
			return "", errors.New("there is no " + reference)
		},
		Keys: func(place string) ([]byte, error) { return nil, errors.New("there is no " + place) },
	}
}

// faultsOf returns the faults of a file, which must have some.
func faultsOf(data string) configfile.Faults {
	GinkgoHelper()
	_, err := configfile.Read(source(data))
	var faults configfile.Faults
	Expect(errors.As(err, &faults)).To(BeTrue(), "want faults, got %v", err)
	return faults
}
