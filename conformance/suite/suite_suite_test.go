//go:build unix

package suite_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// asSuite as the first argument makes the test binary run another suite than its own: Ginkgo suites do not nest.
const asSuite = "play-a-suite"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asSuite {
		os.Exit(play(os.Args[2]))
	}
	os.Exit(m.Run())
}

func TestSuite(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "suite")
}
