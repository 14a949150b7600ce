"""What a server that misbehaves at random costs a worker."""
