"""torch.utils.model_zoo: the old name of the files from the network of torch.hub."""

from ..hub import load_state_dict_from_url as load_url, tqdm as tqdm

__all__ = ["load_url"]
