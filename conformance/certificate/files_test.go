package certificate_test

import (
	"archive/zip"
	"bytes"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/certificate"
)

var _ = Describe("A run in an archive", func() {
	// packed returns an archive of files with the given names. The content of each file is its name.
	packed := func(names ...string) []byte {
		GinkgoHelper()
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for _, name := range names {
			in, err := w.CreateHeader(&zip.FileHeader{Name: name})
			Expect(err).NotTo(HaveOccurred())
			fmt.Fprint(in, name)
		}
		Expect(w.Close()).To(Succeed())
		return out.Bytes()
	}

	It("is read like a directory: the evidence first, the certificate rather than the claim, and no other file", func() {
		text := packed("XA-1/note.txt", "XA-1/report.json", "XA-1/claim.intoto.json", "XA-1/certificate.intoto.json", "XA-1/evidence.jsonl.gz", "other/note.txt")
		Expect(certificate.IsArchive(text)).To(BeTrue())
		a, err := certificate.ReadArchive(text, "test")
		Expect(err).NotTo(HaveOccurred())
		Expect(a.Folder).To(Equal("XA-1"))
		Expect(a.Files).To(HaveExactElements(HaveField("Name", "evidence.jsonl.gz"), HaveField("Name", "report.json")))
		Expect(a.Envelope).To(Equal(certificate.File{Name: "certificate.intoto.json", Content: []byte("XA-1/certificate.intoto.json")}))
	})

	It("is refused when it holds two runs, a file twice, a path out of its folder, too many entries, or no evidence", func() {
		many := []string{"evidence.jsonl.gz"}
		for i := range 300 {
			many = append(many, fmt.Sprintf("note-%d.txt", i))
		}
		for says, text := range map[string][]byte{
			"got \"b/report.json\" besides":              packed("a/evidence.jsonl.gz", "b/report.json"),
			"got \"a/report.json\" besides":              packed("a/evidence.jsonl.gz", "a/report.json", "a/report.json"),
			"got \"../evidence.jsonl.gz\"":               packed("../evidence.jsonl.gz"),
			"got \"/etc/evidence.jsonl.gz\"":             packed("/etc/evidence.jsonl.gz"),
			"got 301 entries":                            packed(many...),
			"expected evidence.jsonl.gz in it, got none": packed("a/report.json"),
			"read the archive: zip: ":                    []byte("PK\x03\x04 damaged"),
		} {
			_, err := certificate.ReadArchive(text, "test")
			Expect(err).To(MatchError(ContainSubstring(says)))
		}
	})

	It("is refused when a file is larger than it says", func() {
		text := packed("a/evidence.jsonl.gz")
		at := bytes.LastIndex(text, []byte("PK\x01\x02"))
		text[at+24]-- // the uncompressed size in the directory
		_, err := certificate.ReadArchive(text, "test")
		Expect(err).To(MatchError(ContainSubstring(`read "a/evidence.jsonl.gz" of the archive`)))
	})
})
