package fault_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestDeviation(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "deviation")
}
