package mockapi_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

// person is the XML of a person in testdata/media.yaml.
type person struct {
	XMLName   xml.Name `xml:"https://cerif.example/ns cfPers"`
	ID        string   `xml:"id,attr"`
	Name      string   `xml:"name"`
	Born      *string  `xml:"born"`
	Languages []string `xml:"language"`
	Units     []string `xml:"units>units>name"`
}

var _ = Describe("answers in media types other than JSON", func() {
	var n node
	BeforeEach(func() { n = serve(sandbox.APIConfig{File: "testdata/media.yaml"}) })

	It("are all served", func() {
		Expect(n.API(n.origin).NotServed).To(BeEmpty())
	})

	It("have the same values in XML, if the client prefers it", func() {
		asJSON := n.get("/persons?limit=3")
		Expect(asJSON.header.Get("Content-Type")).To(Equal("application/json"), "although XML is described first")
		asXML := n.get("/persons?limit=3", "Accept", "application/xml")
		Expect(asXML.header.Get("Content-Type")).To(Equal("application/xml"))
		Expect(asXML.header.Get("Vary")).To(Equal("Accept-Encoding, Accept"))
		Expect(n.get("/page").header.Get("Vary")).To(Equal("Accept-Encoding"))
		Expect(asXML.header.Get("Content-Security-Policy")).To(Equal("default-src 'none'; sandbox"))
		var root struct {
			XMLName xml.Name `xml:"root"`
			Persons []person `xml:"https://cerif.example/ns cfPers"`
		}
		Expect(xml.Unmarshal(asXML.body, &root)).To(Succeed(), string(asXML.body))
		Expect(root.Persons).To(HaveLen(3))
		for i, listed := range asJSON.list() {
			object, p := listed.(map[string]any), root.Persons[i]
			Expect(p.ID).To(Equal(object["id"]))
			Expect(p.Name).To(Equal(object["name"]))
			Expect(p.Born).To(HaveValue(BeEmpty()))
			Expect(p.Languages).To(HaveExactElements(object["languages"]))
			Expect(p.Units).To(HaveLen(len(object["units"].([]any))))
			var detail person
			Expect(xml.Unmarshal(n.get("/persons/"+p.ID, "Accept", "application/cerif+xml").body, &detail)).To(Succeed())
			Expect(detail).To(Equal(p))
		}
	})

	It("are XML if the document describes only XML", func() {
		e := n.get("/harvest", "Accept", "application/json")
		Expect(e.header.Get("Content-Type")).To(Equal("text/xml"))
		var p person
		Expect(xml.Unmarshal(e.body, &p)).To(Succeed())
		Expect(p.Name).NotTo(BeEmpty())
	})

	DescribeTable("are small files of the type", func(path, mediaType string, check func([]byte) error) {
		e := n.get(path)
		Expect(e.status).To(Equal(http.StatusOK))
		Expect(e.header.Get("Content-Type")).To(Equal(mediaType))
		Expect(e.header.Get("Content-Security-Policy")).To(ContainSubstring("sandbox"))
		Expect(check(e.body)).To(Succeed())
		Expect(n.get(path).body).To(Equal(e.body))
	},
		Entry("a page", "/page", "text/html; charset=utf-8", looksLike("text/html; charset=utf-8")),
		Entry("a PDF", "/call.pdf", "application/pdf", looksLike("application/pdf")),
		Entry("any picture", "/logo", "image/png", isPicture("png")),
		Entry("a photo", "/photo", "image/jpeg", isPicture("jpeg")),
		Entry("a GIF", "/emblem", "image/gif", isPicture("gif")),
		Entry("an SVG", "/drawing", "image/svg+xml", func(b []byte) error { return xml.Unmarshal(b, new(struct{})) }),
		Entry("an archive", "/all", "application/zip", func(b []byte) error {
			_, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
			return err
		}),
		Entry("a gzip file", "/packed", "application/gzip", func(b []byte) error {
			r, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return err
			}
			_, err = io.ReadAll(r)
			return err
		}),
		Entry("a CSV file", "/rows", "text/csv", looksLike("text/plain; charset=utf-8")),
		Entry("a type without a file of its own", "/sound", "audio/ogg", looksLike("text/plain; charset=utf-8")),
	)

	It("fit the schema of a text", func() {
		Expect(string(n.get("/key").body)).To(MatchRegexp("^[0-9a-f]{16}$"))
	})
})

// looksLike expects a media type as browsers detect it.
func looksLike(mediaType string) func([]byte) error {
	return func(b []byte) error {
		if found := http.DetectContentType(b); found != mediaType {
			return errors.New("it looks like " + found)
		}
		return nil
	}
}

// isPicture expects a picture in a format.
func isPicture(format string) func([]byte) error {
	return func(b []byte) error {
		_, found, err := image.Decode(bytes.NewReader(b))
		if err == nil && found != format {
			err = errors.New("it is a " + found)
		}
		return err
	}
}
