package mockapi

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
)

// Form says how content of a media type is made.
type Form uint8

// The forms.
const (
	// FormNone is content that is not made: of several parts, or of an invalid media type.
	FormNone Form = iota
	// FormJSON is a value as JSON.
	FormJSON
	// FormText is a text.
	FormText
	// FormXML is a value as XML elements.
	FormXML
	// FormFile is a small file of the media type.
	FormFile
)

// FormOf returns the form of a media type, or of a range of them.
func FormOf(mediaType string) Form {
	essence := mediaEssence(mediaType)
	kind, subtype, _ := strings.Cut(essence, "/")
	switch {
	case kind == "" || subtype == "" || kind == "multipart" || kind == "message":
		return FormNone
	case strings.HasSuffix(subtype, "json"), essence == "*/*", essence == "application/*":
		return FormJSON
	case kind != "image" && (subtype == "xml" || strings.HasSuffix(subtype, "+xml")) && essence != "application/xhtml+xml":
		return FormXML
	case kind == "text":
		return FormText
	}
	return FormFile
}

// mediaEssence returns a media type without parameters, in small letters.
func mediaEssence(mediaType string) string {
	name, _, _ := strings.Cut(mediaType, ";")
	return strings.ToLower(strings.TrimSpace(name))
}

// concreteType returns the media type that is sent for a range.
func concreteType(mediaType string) string {
	switch mediaType {
	case "*/*", "application/*":
		return "application/json"
	case "text/*":
		return "text/plain"
	case "image/*":
		return "image/png"
	case "audio/*":
		return "audio/mpeg"
	case "video/*":
		return "video/mp4"
	}
	return mediaType
}

// The content of text files.
const (
	sampleText = "sample\n"
	samplePage = "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Sample</title></head>\n<body><p>Sample</p></body>\n</html>\n"
	sampleSVG  = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"><title>Sample</title></svg>\n"
	sampleRows = "id,title\n1,Sample\n"
)

// sampleFile returns a small file of a media type, always the same; ok is false for types of text, for which a value is drawn. A file of
// an unknown type, such as sound, is a line of text.
func sampleFile(mediaType string) (file []byte, ok bool) {
	essence := mediaEssence(mediaType)
	switch essence {
	case "text/html", "application/html", "application/xhtml+xml":
		return []byte(samplePage), true
	case "text/csv", "application/csv":
		return []byte(sampleRows), true
	case "image/svg+xml":
		return []byte(sampleSVG), true
	case "image/png", "image/jpeg", "image/jpg", "image/gif":
		return sampleImage(essence), true
	case "application/pdf":
		return samplePDF(), true
	case "application/gzip", "application/x-gzip":
		return sampleGzip(), true
	case "application/zip", "application/x-zip-compressed":
		return sampleZip(), true
	}
	if strings.HasPrefix(essence, "application/vnd.openxmlformats-") || strings.HasPrefix(essence, "application/vnd.oasis.opendocument.") {
		return sampleZip(), true // these formats are zip archives
	}
	return []byte(sampleText), !strings.HasPrefix(essence, "text/")
}

// sampleImage is a single white point. Writing to memory does not fail.
func sampleImage(essence string) []byte {
	point := image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.White})
	var b bytes.Buffer
	switch essence {
	case "image/png":
		_ = png.Encode(&b, point)
	case "image/gif":
		_ = gif.Encode(&b, point, nil)
	default:
		_ = jpeg.Encode(&b, point, nil)
	}
	return b.Bytes()
}

func sampleGzip() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(sampleText))
	_ = w.Close()
	return b.Bytes()
}

func sampleZip() []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if f, err := w.CreateHeader(&zip.FileHeader{Name: "sample.txt", Method: zip.Store}); err == nil {
		_, _ = f.Write([]byte(sampleText))
	}
	_ = w.Close()
	return b.Bytes()
}

// samplePDF is a document of one page (ISO 32000-1 §7.5): objects, and the table of their offsets.
func samplePDF() []byte {
	text := "BT /F1 24 Tf 72 720 Td (Sample) Tj ET"
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(text), text),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	table := "0000000000 65535 f \n"
	for i, object := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	fmt.Fprintf(&b, "xref\n0 %d\n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table, len(objects)+1, b.Len())
	return b.Bytes()
}
