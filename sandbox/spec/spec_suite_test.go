package spec_test

import (
	"flag"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var update = flag.Bool("update", false, "update the golden files")

func TestSpec(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "spec")
}
