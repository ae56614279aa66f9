package spec_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// update makes tests rewrite their golden files.
var update = os.Getenv("RIN_UPDATE_GOLDEN") != ""

func TestSpec(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "spec")
}
