package vendors_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestVendors(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "makers")
}
