package clientrules_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestClientRules(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "clientrules")
}
