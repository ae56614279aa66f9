package benign_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestBenign(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "benign")
}
