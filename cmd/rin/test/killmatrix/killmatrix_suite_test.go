package killmatrix_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestKillMatrix(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "mutants")
}
