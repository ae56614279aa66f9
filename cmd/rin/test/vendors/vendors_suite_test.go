// Package vendors_test certifies nodes that imitate well-known software, each written with its own data. They must be certified with exactly
// the warnings that their software earns.
package vendors_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestVendors(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "vendors")
}
