// Package killmatrix_test measures the kill matrix: for each deviation of the sandbox, exactly the requirements that the deviation breaks
// get worse on a live run. It lives beside the command because only there sandbox and conformance may meet.
//
// "make mutants" measures every deviation and records the matrix. "make test" measures one deviation for every sixth requirement of each
// group, all in one process, and asserts that the recorded matrix matches the deviations and requirements of this version. RIN_MUTANTS
// selects deviations by name.
package killmatrix_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestKillMatrix(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "kill matrix")
}
