package content

import "strings"

// Form is how content of a media type is made.
type Form uint8

// The forms.
const (
	// None is that of what is no media type, and of content in several parts.
	None Form = iota
	// JSON is a value as it is.
	JSON
	// Text is a value that is text.
	Text
	// XML is a value as elements.
	XML
	// Sample is a file of the type.
	Sample
)

// FormOf tells how content of a media type, or of a range of them, is made.
func FormOf(mediaType string) Form {
	essence := Essence(mediaType)
	kind, subtype, _ := strings.Cut(essence, "/")
	switch {
	case kind == "" || subtype == "" || kind == "multipart" || kind == "message":
		return None
	case strings.HasSuffix(subtype, "json"), essence == "*/*", essence == "application/*":
		return JSON
	case kind != "image" && (subtype == "xml" || strings.HasSuffix(subtype, "+xml")) && essence != "application/xhtml+xml":
		return XML
	case kind == "text":
		return Text
	}
	return Sample
}

// Essence is a media type without parameters, in small letters.
func Essence(mediaType string) string {
	name, _, _ := strings.Cut(mediaType, ";")
	return strings.ToLower(strings.TrimSpace(name))
}

// Concrete is the media type that is sent for a range of them.
func Concrete(mediaType string) string {
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
