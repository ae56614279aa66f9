package registry

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/report"
)

// This file publishes the last report of a node: a page that stays small, and the whole run as a download.

// The public files of a report.
const (
	summaryFile  = "report.html"
	downloadFile = "run.zip"
	// certifiedFile holds the run that the certificate is about, if that is not the last one.
	certifiedFile = "certified-run.zip"
)

// verifiableDownload returns the download that holds the published certificate; "" if none does, because the run was published before its certificate.
func verifiableDownload(dir string, older bool) string {
	name := downloadFile
	if older {
		name = certifiedFile
	}
	published, err := os.ReadFile(filepath.Join(dir, certificate.CertificateFile))
	if err != nil {
		return ""
	}
	packed, err := zip.OpenReader(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	defer packed.Close()
	for _, f := range packed.File {
		if path.Base(f.Name) != certificate.CertificateFile || f.UncompressedSize64 != uint64(len(published)) {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return ""
		}
		defer in.Close()
		if text, err := io.ReadAll(in); err == nil && bytes.Equal(text, published) {
			return name
		}
	}
	return ""
}

// published says which parts of a report are public: Report is the page, and Run is the download of the run. If only Run is public, the report is too long
// for a page. Older reports that the certified run is an earlier one, with a download of its own. Of is the run of a report that was published earlier; empty
// for the last run.
type published struct {
	Report, Run, Older bool
	Of                 string
	Verifiable         string // the download that holds the published certificate, or ""
}

// publishReport writes the report of the last run in which the node was judged, if reports are published and the files are kept. Otherwise it keeps what
// was published before, unless the operator removes it.
func (w *siteWriter) publishReport(n Node, dir string) (published, error) {
	if w.reports == RemoveReports {
		return published{}, removeFiles(dir, summaryFile, downloadFile, certifiedFile)
	}
	if w.reports != PublishReports {
		return keptReport(n, dir), nil
	}
	run := w.o.Dir.RunDir(n.ID, n.lastRun())
	r, err := lastReport(run)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, report.ErrVersion) {
		return keptReport(n, dir), nil
	}
	if err != nil {
		return published{}, err
	}
	var page bytes.Buffer
	err = report.WriteSummary(&page, r, downloadFile)
	tooLong := errors.Is(err, report.ErrTooLong)
	switch {
	case tooLong:
		err = removeFiles(dir, summaryFile)
	case err == nil:
		err = replaceFile(filepath.Join(dir, summaryFile), page.Bytes())
	}
	older, errOlder := w.publishCertified(n, dir)
	return published{Report: !tooLong, Run: true, Older: older}, errors.Join(err, errOlder, writeDownload(filepath.Join(dir, downloadFile), run, folderOf(n, n.lastRun())))
}

// folderOf returns the folder of a run in a download.
func folderOf(n Node, run Night) string { return FileName(n.ID) + "-" + string(run) }

// keptReport says what an earlier call published.
func keptReport(n Node, dir string) published {
	kept := published{Report: isFile(filepath.Join(dir, summaryFile)), Run: isFile(filepath.Join(dir, downloadFile)), Older: isFile(filepath.Join(dir, certifiedFile))}
	if !kept.Run {
		return kept
	}
	packed, err := zip.OpenReader(filepath.Join(dir, downloadFile))
	if err != nil || len(packed.File) == 0 {
		return kept
	}
	defer packed.Close()
	folder := path.Dir(packed.File[0].Name)
	if folder != folderOf(n, n.lastRun()) {
		kept.Of = strings.TrimPrefix(folder, FileName(n.ID)+"-")
	}
	return kept
}

// publishCertified writes the run that the certificate is about, if it is not the last one: with the last one alone, nobody could recompute the certificate.
func (w *siteWriter) publishCertified(n Node, dir string) (bool, error) {
	run := w.o.Dir.RunDir(n.ID, n.CertifiedRun)
	if n.CertifiedRun == "" || n.CertifiedRun == n.lastRun() || !isFile(filepath.Join(run, certificate.CertificateFile)) {
		return false, removeFiles(dir, certifiedFile)
	}
	return true, writeDownload(filepath.Join(dir, certifiedFile), run, folderOf(n, n.CertifiedRun))
}

func lastReport(run string) (report.Report, error) {
	file, err := os.Open(filepath.Join(run, certificate.ReportFile))
	if err != nil {
		return report.Report{}, err
	}
	defer file.Close()
	return report.ReadJSON(file)
}

// writeDownload packs the files of a run, and its certificate if it has one, in a folder. It replaces an older file only if the content differs.
func writeDownload(to, run, folder string) (err error) {
	temporary := to + ".new"
	out, err := os.Create(temporary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeFile(temporary)) }()
	packed := zip.NewWriter(out)
	names := []string{certificate.CertificateFile, certificate.EvidenceFile}
	for _, f := range report.Files("") {
		names = append(names, f.Name)
	}
	err = errors.Join(pack(packed, run, folder, names), packed.Close(), out.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(to), err)
	}
	if same, err := sameContent(to, temporary); err != nil || same {
		return err
	}
	return os.Rename(temporary, to)
}

// pack adds those of the named files that a directory has. It sets no times, so that the same files give the same bytes.
func pack(to *zip.Writer, dir, folder string, names []string) error {
	for _, name := range names {
		file, err := os.Open(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		method := zip.Deflate
		if path.Ext(name) == ".gz" {
			method = zip.Store
		}
		in, err := to.CreateHeader(&zip.FileHeader{Name: path.Join(folder, name), Method: method})
		if err == nil {
			_, err = io.Copy(in, file)
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// sameContent compares two files without reading them whole. A file that does not exist is different.
func sameContent(a, b string) (bool, error) {
	digestA, err := fileDigest(a)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	digestB, errB := fileDigest(b)
	return digestA == digestB, errors.Join(err, errB)
}

func fileDigest(name string) (sum [sha256.Size]byte, err error) {
	file, err := os.Open(name)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	h := sha256.New()
	_, err = io.Copy(h, file)
	return [sha256.Size]byte(h.Sum(nil)), err
}

// removeFiles removes files of a directory that may not exist.
func removeFiles(dir string, names ...string) error {
	var all error
	for _, name := range names {
		all = errors.Join(all, removeFile(filepath.Join(dir, name)))
	}
	return all
}

// removeFile removes a file that may not exist.
func removeFile(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
