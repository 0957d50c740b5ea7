"""Operations without a slope in, neighbours that have one out: each an estimate, and named so."""
