package verdict_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

type ids = []requirement.ID

// matrixOf returns a matrix of TOK-01, TOK-02, TOK-03 and SEC-07, which is attested.
func matrixOf(deviations ...verdict.Deviation) verdict.Matrix {
	return verdict.Matrix{Schema: verdict.MatrixVersion, Catalogue: "1.0.0", Requirements: ids{"TOK-01", "TOK-02", "TOK-03", "SEC-07"}, Deviations: deviations}
}

// exactMatrix returns a matrix in which every deviation is noticed exactly.
func exactMatrix() verdict.Matrix {
	return matrixOf(
		verdict.NewDeviation("token-missing", "No | token.", ids{"TOK-01"}, ids{"TOK-01"}),
		verdict.NewDeviation("token-odd", "An odd token.", ids{"TOK-03", "TOK-02"}, ids{"TOK-02", "TOK-03"}),
	)
}

// leakyMatrix returns a matrix in which one deviation is missed and another is also noticed by a requirement that it does not break.
func leakyMatrix() verdict.Matrix {
	return matrixOf(
		verdict.NewDeviation("token-missing", "No token.", ids{"TOK-01"}, nil),
		verdict.NewDeviation("token-odd", "An odd token.", ids{"TOK-02"}, ids{"TOK-02", "TOK-03"}),
	)
}

var _ = Describe("A measured deviation", func() {
	It("is exact when exactly the requirements that it breaks noticed it, in any order", func() {
		Expect(verdict.NewDeviation("a", "", ids{"TOK-02", "TOK-01"}, ids{"TOK-01", "TOK-02"}).Exact()).To(BeTrue())
		missed := verdict.NewDeviation("a", "", ids{"TOK-02", "TOK-01"}, ids{"TOK-01"})
		Expect(missed.Exact()).To(BeFalse())
		Expect(missed.Missed).To(Equal(ids{"TOK-02"}))
		surplus := verdict.NewDeviation("a", "", ids{"TOK-01"}, ids{"TOK-03", "TOK-01"})
		Expect(surplus.Exact()).To(BeFalse())
		Expect(surplus.Surplus).To(Equal(ids{"TOK-03"}))
	})
})

var _ = Describe("The score", func() {
	It("counts deviations and requirements, and lists attested requirements apart", func() {
		Expect(exactMatrix().Score()).To(Equal(verdict.Score{Deviations: 2, Noticed: 2, Requirements: 3, Killed: 3, Attested: ids{"SEC-07"}}))
		Expect(exactMatrix().Score().String()).To(Equal("2 of 2 deviations noticed exactly, 3 of 3 requirements proved, SEC-07 left to attestation"))
		Expect(exactMatrix().Score().Sentence("v1.2.0", "1.4.0", nil)).To(Equal("rin v1.2.0 (catalogue 1.4.0) notices 2 of 2 deviations tried; they prove 3 of 3 requirements; SEC-07 cannot be tried and was not attested."))
		Expect(exactMatrix().Score().Sentence("v1.2.0", "1.4.0", ids{"SEC-07"})).To(HaveSuffix("; the operator attests SEC-07."))
	})

	It("counts a deviation with a miss or a surplus as not noticed, and a surplus as a kill", func() {
		Expect(leakyMatrix().Score()).To(Equal(verdict.Score{Deviations: 2, Noticed: 0, Requirements: 3, Killed: 2, Attested: ids{"SEC-07"}}))
		Expect(leakyMatrix().KilledBy("TOK-01")).To(BeEmpty())
		Expect(leakyMatrix().KilledBy("TOK-03")).To(ConsistOf(HaveField("Name", "token-odd")))
	})
})

var _ = Describe("The recorded matrix", func() {
	It("survives encoding and decoding, with one deviation per line", func() {
		for _, m := range []verdict.Matrix{exactMatrix(), leakyMatrix(), verdict.RecordedMatrix()} {
			data, err := m.JSON()
			Expect(err).NotTo(HaveOccurred())
			back, err := verdict.ReadMatrix(data)
			Expect(err).NotTo(HaveOccurred())
			Expect(back).To(Equal(m))
			Expect(strings.Count(string(data), "\n")).To(Equal(len(m.Deviations) + 7))
		}
	})

	It("is refused if it has another version or unknown members", func() {
		_, err := verdict.ReadMatrix([]byte(`{"schema":"rin.matrix/v9"}`))
		Expect(err).To(MatchError(ContainSubstring("rin.matrix/v1")))
		_, err = verdict.ReadMatrix([]byte(`{"schema":"rin.matrix/v1","score":100}`))
		Expect(err).To(MatchError(ContainSubstring("score")))
	})
})
