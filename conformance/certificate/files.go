package certificate

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
)

// This file reads the files of a run, from a directory or an archive.

// File is a file of a run.
type File struct {
	Name    string
	Content []byte
}

// Run is a run with its evidence and its report, as they were read from its files.
type Run struct {
	// Files are the evidence and the reports.
	Files  []File
	Log    *evidence.Log
	Report report.Report
}

// ReadRun reads the files of a run in a directory: the evidence first, then the report in its formats. suite is the version of rin.
func ReadRun(dir, suite string) (Run, error) {
	files, err := ReadFiles(dir, suite)
	if err != nil {
		return Run{}, err
	}
	return ParseRun(files)
}

// ParseRun reads evidence and report of a run from its files.
func ParseRun(files []File) (r Run, err error) {
	r.Files = files
	for _, f := range files {
		switch f.Name {
		case EvidenceFile:
			r.Log, err = evidence.ReadLog(bytes.NewReader(f.Content))
		case ReportFile:
			r.Report, err = report.ReadJSON(bytes.NewReader(f.Content))
		}
		if err != nil {
			return Run{}, fmt.Errorf("read %s: %w", f.Name, err)
		}
	}
	return r, nil
}

// ReadFiles reads the files of a run without parsing them. Reports may be missing, the evidence may not.
func ReadFiles(dir, suite string) ([]File, error) {
	names := []string{EvidenceFile}
	for _, f := range report.Files(suite) {
		names = append(names, f.Name)
	}
	var files []File
	for _, name := range names {
		content, err := ReadBounded(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != EvidenceFile:
		case err != nil:
			return nil, err
		default:
			files = append(files, File{Name: name, Content: content})
		}
	}
	return files, nil
}

// maxPacked bounds the entries of an archive that is read, and maxArchive its size in bytes.
const (
	maxPacked  = 200
	maxArchive = 64 << 20
)

// IsArchive reports whether a content is a ZIP archive.
func IsArchive(content []byte) bool { return bytes.HasPrefix(content, []byte("PK\x03\x04")) }

// Archive is a run in a ZIP archive, such as the pages of a registry offer.
type Archive struct {
	Folder string // in which the files are; "." for none
	Files  []File
	// Envelope is the certificate or the claim; its Content is nil without one.
	Envelope File
}

// ReadArchive reads the files of a run from a ZIP archive, as [ReadFiles] does from a directory. Nothing is written: names in the archive are only compared, so
// none of them can lead out of a folder. Files with other names are ignored.
func ReadArchive(content []byte, suite string) (Archive, error) {
	if len(content) > maxArchive { // the directory of a larger one could fill the memory
		return Archive{}, fmt.Errorf("read the archive: expected at most %d MB, got %d", maxArchive>>20, len(content)>>20)
	}
	packed, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return Archive{}, fmt.Errorf("read the archive: %w", err)
	}
	if len(packed.File) > maxPacked {
		return Archive{}, fmt.Errorf("read the archive: expected the files of one run, got %d entries", len(packed.File))
	}
	names := []string{EvidenceFile}
	for _, f := range report.Files(suite) {
		names = append(names, f.Name)
	}
	a, found, room := Archive{}, map[string]File{}, int64(evidence.MaxLog)
	for _, f := range packed.File {
		folder, name := path.Split(f.Name)
		if !slices.Contains(names, name) && name != CertificateFile && name != ClaimFile {
			continue
		}
		if _, twice := found[name]; twice || len(found) > 0 && path.Clean(folder) != a.Folder || !fs.ValidPath(path.Clean(folder)) {
			return Archive{}, fmt.Errorf("read the archive: expected the files of one run, got %.200q besides those in %.200q", f.Name, a.Folder)
		}
		a.Folder = path.Clean(folder)
		text, err := unpack(f, room)
		if err != nil {
			return Archive{}, fmt.Errorf("read %.200q of the archive: %w", f.Name, err)
		}
		room -= int64(len(text))
		found[name] = File{name, text}
	}
	if _, ok := found[EvidenceFile]; !ok {
		return Archive{}, fmt.Errorf("read the archive: expected %s in it, got none", EvidenceFile)
	}
	for _, name := range names {
		if f, ok := found[name]; ok {
			a.Files = append(a.Files, f)
		}
	}
	a.Envelope = found[ClaimFile]
	if f, ok := found[CertificateFile]; ok {
		a.Envelope = f
	}
	return a, nil
}

// unpack reads a file of an archive that is not larger than the room that is left.
func unpack(f *zip.File, room int64) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, room+1))
	if err == nil && int64(len(text)) > room {
		err = fmt.Errorf("the files are larger than %d bytes together", evidence.MaxLog)
	}
	return text, err
}

// ReadBounded reads a file of at most [evidence.MaxLog] bytes, and refuses a larger one.
func ReadBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, evidence.MaxLog+1))
	if err == nil && len(content) > evidence.MaxLog {
		err = fmt.Errorf("%s is larger than %d bytes", path, evidence.MaxLog)
	}
	return content, err
}
