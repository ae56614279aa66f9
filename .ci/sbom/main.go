// Sbom writes the SBOM of a release's archive: an SPDX document with the modules that its binary was linked from, as the Go linker recorded them.
//
//	go run ./.ci/sbom ARCHIVE DOCUMENT
//
// The document depends on the archive alone, so two builds of a commit have equal documents; syft, which GoReleaser calls by default, writes the time and a random id.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom ARCHIVE DOCUMENT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(archive, document string) error {
	content, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	binary, err := binaryIn(archive, content)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	sbom, err := newDocument(filepath.Base(archive), content, info)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	text, err := json.MarshalIndent(sbom, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(document, append(text, '\n'), 0o644)
}

// binaryIn returns the program rin from an archive, a tar.gz or a zip.
func binaryIn(name string, content []byte) ([]byte, error) {
	if strings.HasSuffix(name, ".zip") {
		files, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return nil, err
		}
		file, err := files.Open("rin.exe")
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return io.ReadAll(file)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("expected the file rin in the archive, got none")
		}
		if err != nil {
			return nil, err
		}
		if header.Name == "rin" {
			return io.ReadAll(files)
		}
	}
}

// The types are those of SPDX 2.3 in JSON.
type (
	spdxDocument struct {
		Version       string         `json:"spdxVersion"`
		DataLicense   string         `json:"dataLicense"`
		ID            string         `json:"SPDXID"`
		Name          string         `json:"name"`
		Namespace     string         `json:"documentNamespace"`
		Creation      creation       `json:"creationInfo"`
		Packages      []spdxPackage  `json:"packages"`
		Relationships []relationship `json:"relationships"`
	}
	creation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		Name             string      `json:"name"`
		ID               string      `json:"SPDXID"`
		Version          string      `json:"versionInfo"`
		DownloadLocation string      `json:"downloadLocation"`
		FilesAnalyzed    bool        `json:"filesAnalyzed"`
		Concluded        string      `json:"licenseConcluded"`
		Declared         string      `json:"licenseDeclared"`
		Copyright        string      `json:"copyrightText"`
		SourceInfo       string      `json:"sourceInfo,omitempty"`
		Checksums        []checksum  `json:"checksums,omitempty"`
		References       []reference `json:"externalRefs,omitempty"`
	}
	checksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	reference struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	relationship struct {
		From string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

const documentID, archiveID, unknown = "SPDXRef-DOCUMENT", "SPDXRef-archive", "NOASSERTION"

// newDocument describes an archive and the modules of its binary.
func newDocument(name string, archive []byte, info *debug.BuildInfo) (spdxDocument, error) {
	var commit, created string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.time":
			created = s.Value
		}
	}
	if commit == "" || created == "" {
		return spdxDocument{}, errors.New("expected a binary that names its commit, got one that was built outside a repository")
	}
	sum := sha256.Sum256(archive)
	digest := hex.EncodeToString(sum[:])
	d := spdxDocument{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: documentID, Name: name, Namespace: "https://" + info.Main.Path + "/sbom/" + url.PathEscape(name) + "-" + digest,
		Creation: creation{created, []string{"Tool: rin-release-sbom"}},
	}
	main := modulePackage(info.Main, 0)
	main.Declared, main.SourceInfo = "Apache-2.0", "commit "+commit
	main.References = []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(info.Main.Path) + "@" + commit}}
	d.Packages = []spdxPackage{
		{
			Name: name, ID: archiveID, Version: info.Main.Version, DownloadLocation: unknown, Concluded: unknown, Declared: "Apache-2.0", Copyright: unknown,
			Checksums: []checksum{{"SHA256", digest}},
		},
		main,
	}
	d.Relationships = []relationship{{documentID, "DESCRIBES", archiveID}, {archiveID, "CONTAINS", main.ID}}
	modules := []debug.Module{{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}} // the name that databases of vulnerabilities use
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, *m)
	}
	for i, m := range modules {
		p := modulePackage(m, i+1)
		d.Packages = append(d.Packages, p)
		d.Relationships = append(d.Relationships, relationship{main.ID, "DEPENDS_ON", p.ID})
	}
	return d, nil
}

// modulePackage describes a module. Licenses are not looked up. The index makes its id unique: a/b-c and a/b/c are equal in the characters that SPDX allows.
func modulePackage(m debug.Module, index int) spdxPackage {
	p := spdxPackage{
		Name: m.Path, ID: fmt.Sprintf("SPDXRef-%s-%d", regexp.MustCompile(`[^A-Za-z0-9.]+`).ReplaceAllString(m.Path, "-"), index), Version: m.Version,
		DownloadLocation: unknown, Concluded: unknown, Declared: unknown, Copyright: unknown,
		References: []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(m.Path) + "@" + strings.ReplaceAll(m.Version, "+", "%2B")}},
	}
	if m.Sum != "" {
		p.SourceInfo = "go.sum: " + m.Sum
	}
	return p
}
