package tidy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sample says what [MakeSample] put into the folder.
type Sample struct {
	Files      int   // that a scan lists
	Sets       int   // groups of equal files
	Duplicates int   // without the survivors
	Bytes      int64 // of the duplicates
}

// MakeSample fills a folder to play with: a few dozen small files, some of them equal, nested folders, a hard link, a symbolic link,
// an empty file and a .git folder. The folder is made when missing and must be empty: fs.ErrExist otherwise. The same every time.
func MakeSample(dir string) (Sample, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return Sample{}, fmt.Errorf("make the sample folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Sample{}, fmt.Errorf("open the sample folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	if list, err := fs.ReadDir(root.FS(), "."); err != nil || len(list) > 0 {
		return Sample{}, fmt.Errorf("the sample folder %q must be empty: %w", dir, errors.Join(err, fs.ErrExist))
	}
	sample := Sample{}
	for _, set := range sampleSets() {
		if err := set.write(root, &sample); err != nil {
			return Sample{}, err
		}
	}
	return sample, sampleOddities(root)
}

// sampleSet is one content and the files that have it.
type sampleSet struct {
	content string
	paths   []string
}

func (s sampleSet) write(root *os.Root, sample *Sample) error {
	for _, path := range s.paths {
		if err := root.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return fmt.Errorf("make a sample folder: %w", err)
		}
		if err := root.WriteFile(path, []byte(s.content), 0o600); err != nil {
			return fmt.Errorf("write a sample file: %w", err)
		}
	}
	sample.Files += len(s.paths)
	if len(s.paths) > 1 {
		sample.Sets++
		sample.Duplicates += len(s.paths) - 1
		sample.Bytes += int64(len(s.content)) * int64(len(s.paths)-1)
	}
	return nil
}

// sampleSets has equal files, files of one size with different content, and files of which there is one.
func sampleSets() []sampleSet {
	sets := []sampleSet{
		{"Minutes of the first meeting.\n" + strings.Repeat("We agreed to meet again. ", 40), []string{
			"documents/minutes.txt", "documents/old/minutes.txt", "downloads/minutes (1).txt", "downloads/minutes (2).txt",
		}},
		{strings.Repeat("A picture of the harbour at dawn. ", 200), []string{
			"pictures/2024/harbour.dat", "pictures/2025/harbour copy.dat", "downloads/harbour.dat",
		}},
		{strings.Repeat("A picture of the harbour at dusk. ", 200), []string{"pictures/2024/harbour evening.dat"}},
		{"milk, bread, apples\n", []string{"notes/shopping.txt", "notes/Shopping (copy).txt", "shopping.txt"}},
		{"milk, bread, grapes\n", []string{"notes/shopping next week.txt"}},
		{"Dear Ana,\nthank you for the letter.\n", []string{"letters/ana.txt", "letters/drafts/ana.txt"}},
		{"Grüße aus Köln\n", []string{"letters/köln.txt", "letters/drafts/köln.txt"}},
		{strings.Repeat("la ", 3000), []string{"music/song.dat", "music/albums/first/01 song.dat", "music/albums/best of/07 song.dat"}},
	}
	for month := 1; month <= 12; month++ {
		content := fmt.Sprintf("Report for month %02d\n%s\n", month, strings.Repeat("figures ", month))
		paths := []string{fmt.Sprintf("reports/2025-%02d.txt", month)}
		if month%3 == 0 {
			paths = append(paths, fmt.Sprintf("reports/backup/2025-%02d.txt", month))
		}
		sets = append(sets, sampleSet{content, paths})
	}
	return sets
}

// sampleOddities are what a scan skips and tells about.
func sampleOddities(root *os.Root) error {
	return errors.Join(
		root.WriteFile("notes/empty.txt", nil, 0o600),
		root.Link("documents/minutes.txt", "documents/the same minutes, hard link.txt"),
		root.Symlink("notes/shopping.txt", "shopping symbolic link.txt"),
		root.Mkdir(".git", 0o750),
		root.WriteFile(".git/HEAD", []byte("ref: refs/heads/main\n"), 0o600),
	)
}
