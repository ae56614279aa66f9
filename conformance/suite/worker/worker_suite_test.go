//go:build unix

package worker_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// asChild as the first argument makes the test binary play a child of package worker; the second argument names the part, see [play].
const asChild = "play-the-child"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asChild {
		os.Exit(play(os.Args[2]))
	}
	os.Exit(m.Run())
}

func TestWorker(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "worker")
}
