package mockapi

import (
	"embed"
	"strings"
)

// Form says how content of a media type is made.
type Form uint8

const (
	// FormNone is content that this package cannot make: of several parts, or of an invalid media type.
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

// mediaEssence returns a media type without parameters, in lower case.
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

//go:embed files
var files embed.FS

// sampleFile returns a small file of a media type, always the same. ok is false for types of text, because a text is drawn from its schema
// instead. For a type without a file, such as sound, the file is a line of text.
func sampleFile(mediaType string) (file []byte, ok bool) {
	essence := mediaEssence(mediaType)
	extension := "txt"
	switch essence {
	case "text/html", "application/html", "application/xhtml+xml":
		extension = "html"
	case "text/csv", "application/csv":
		extension = "csv"
	case "image/svg+xml":
		extension = "svg"
	case "image/png", "image/gif", "image/jpeg":
		extension = strings.TrimPrefix(essence, "image/")
	case "image/jpg":
		extension = "jpeg"
	case "application/pdf":
		extension = "pdf"
	case "application/gzip", "application/x-gzip":
		extension = "gz"
	case "application/zip", "application/x-zip-compressed":
		extension = "zip"
	default:
		if strings.HasPrefix(essence, "application/vnd.openxmlformats-") || strings.HasPrefix(essence, "application/vnd.oasis.opendocument.") {
			extension = "zip" // these formats are zip archives
		}
	}
	file, err := files.ReadFile("files/sample." + extension)
	return file, err == nil && (extension != "txt" || !strings.HasPrefix(essence, "text/"))
}
