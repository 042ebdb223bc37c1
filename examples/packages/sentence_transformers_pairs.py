"""sentence-transformers: a tiny random encoder learns which sentences belong together."""

import logging
import tempfile
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer, losses, util
from sentence_transformers.models import Normalize, Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizer

logging.disable(logging.WARNING)
WORDS = ["the", "a", "cat", "dog", "bird", "sings", "runs", "sleeps", "under", "over", "tree", "house", "red", "blue"]
PAIRS = [("the cat sleeps", "a cat sleeps under the tree"), ("a dog runs", "the dog runs over the house"),
         ("the bird sings", "a bird sings"), ("red house", "the house under the tree")]


def encoder(folder: str) -> SentenceTransformer:
    """A model with random weights and a vocabulary of a few words, read from files as others are."""
    torch.manual_seed(0)
    Path(folder, "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    BertTokenizer(str(Path(folder, "vocab.txt"))).save_pretrained(folder)
    BertModel(BertConfig(vocab_size=32, hidden_size=24, num_hidden_layers=2, num_attention_heads=4,
                         intermediate_size=48)).save_pretrained(folder)
    words = Transformer(folder)
    return SentenceTransformer(modules=[words, Pooling(24), Normalize()], device="cpu")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        model = encoder(folder)
    loss_of = losses.MultipleNegativesRankingLoss(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    model.train()
    features = [model.preprocess(list(side)) if hasattr(model, "preprocess") else model.tokenize(list(side))
                for side in zip(*PAIRS, strict=True)]
    for step in range(5):
        loss = loss_of([dict(one) for one in features], torch.zeros(len(PAIRS)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}   loss {loss.item():.5f}")
    vectors = model.encode([first for first, _ in PAIRS], convert_to_tensor=True, show_progress_bar=False)
    print("similar:", [[round(x, 4) for x in row] for row in util.cos_sim(vectors, vectors).tolist()])
    found = util.semantic_search(vectors[:1], vectors, top_k=2)[0]
    print("found:", [(hit["corpus_id"], round(hit["score"], 4)) for hit in found], f"{vectors.abs().mean():.5f}")


if __name__ == "__main__":
    main()
