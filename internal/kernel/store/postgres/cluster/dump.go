package cluster

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
)

// Dump copies the schema that a DSN of [Cluster.Ledger] leads to into a file, as an operator
// does, beside anyone who works on it.
func (c *Cluster) Dump(ctx context.Context, dsn string) (file string, err error) {
	at, err := url.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	schema := at.Query().Get("search_path")
	file = filepath.Join(c.dir, schema+".dump")
	return file, c.run(ctx, filepath.Join(c.bin, "pg_dump"), "--format=custom", "--no-password", "--schema="+schema, "--file="+file, c.program(dsn))
}

// Restore puts such a file into a new, empty database, and returns the DSN of what the one
// given leads to there.
func (c *Cluster) Restore(ctx context.Context, file, dsn string) (string, error) {
	c.mu.Lock()
	c.made++
	name := "restored" + strconv.Itoa(c.made)
	c.mu.Unlock()
	if err := c.Do(ctx, "CREATE DATABASE "+name+" OWNER "+Role); err != nil {
		return "", err
	}
	at, err := url.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	at.Path = "/" + name
	defer os.Remove(file) //nolint:errcheck // it goes with the cluster
	return at.String(), c.run(ctx, filepath.Join(c.bin, "pg_restore"), "--no-password", "--no-owner", "--exit-on-error", "--dbname="+c.program(at.String()), file)
}

// program is a DSN as PostgreSQL's own programs take it: the schema is nothing of theirs.
func (c *Cluster) program(dsn string) string {
	at, err := url.Parse(dsn)
	if err != nil {
		return dsn
	}
	words := at.Query()
	words.Del("search_path")
	at.RawQuery = words.Encode()
	return at.String()
}
