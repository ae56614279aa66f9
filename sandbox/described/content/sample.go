package content

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

// What files of text say.
const (
	sampleText = "sample\n"
	samplePage = "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Sample</title></head>\n<body><p>Sample</p></body>\n</html>\n"
	sampleSVG  = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"><title>Sample</title></svg>\n"
	sampleRows = "id,title\n1,Sample\n"
)

// File is a small file of a media type, the same each time; ok is false for types of text whose samples are better drawn. What has no
// signature of its own that is known here, such as sound, is a line of text.
func File(mediaType string) (file []byte, ok bool) {
	essence := Essence(mediaType)
	switch essence {
	case "text/html", "application/html", "application/xhtml+xml":
		return []byte(samplePage), true
	case "text/csv", "application/csv":
		return []byte(sampleRows), true
	case "image/svg+xml":
		return []byte(sampleSVG), true
	case "image/png", "image/jpeg", "image/jpg", "image/gif":
		return picture(essence), true
	case "application/pdf":
		return page(), true
	case "application/gzip", "application/x-gzip":
		return packed(), true
	case "application/zip", "application/x-zip-compressed":
		return archive(), true
	}
	if strings.HasPrefix(essence, "application/vnd.openxmlformats-") || strings.HasPrefix(essence, "application/vnd.oasis.opendocument.") {
		return archive(), true // which these formats are
	}
	return []byte(sampleText), !strings.HasPrefix(essence, "text/")
}

// picture is a single white point. Nothing that is written to memory here fails.
func picture(essence string) []byte {
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

func packed() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(sampleText))
	_ = w.Close()
	return b.Bytes()
}

func archive() []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if f, err := w.CreateHeader(&zip.FileHeader{Name: "sample.txt", Method: zip.Store}); err == nil {
		_, _ = f.Write([]byte(sampleText))
	}
	_ = w.Close()
	return b.Bytes()
}

// page is a document of one page (ISO 32000-1 §7.5): objects, and the table that says where each of them begins.
func page() []byte {
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
