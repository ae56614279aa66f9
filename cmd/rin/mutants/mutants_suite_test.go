package mutants_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestMutants(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "mutants")
}
