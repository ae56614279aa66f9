package devtls_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestDevTLS(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "devtls")
}
